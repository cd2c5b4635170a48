#include "tools/benchmarks/load_generator/connection.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <system_error>

namespace falafel::load_generator {
namespace {

[[noreturn]] void fail(const std::string& what) {
  throw std::system_error(errno, std::generic_category(), what);
}

}  // namespace

Connection::Connection(const std::string& socket_path, const Protocol& protocol)
    : protocol_(protocol), socket_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (socket_path.size() >= sizeof address.sun_path) {
    errno = ENAMETOOLONG;
    fail(socket_path);
  }
  std::memcpy(address.sun_path, socket_path.data(), socket_path.size());
  if (socket_ < 0 ||
      ::connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    fail(socket_path);
  }
}

Connection::~Connection() { ::close(socket_); }

void Connection::send(std::string_view requests) {
  while (!requests.empty()) {
    const ssize_t sent = ::send(socket_, requests.data(), requests.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno != EINTR) fail("sending");
    if (sent > 0) requests.remove_prefix(static_cast<std::size_t>(sent));
  }
}

Answer Connection::receive() {
  for (;;) {
    const auto answer = protocol_.parse(std::string_view(received_).substr(parsed_bytes_));
    if (answer) {
      parsed_bytes_ += answer->size_bytes;
      return *answer;
    }
    read_more();
  }
}

void Connection::read_more() {
  constexpr std::size_t most_bytes = 65'536;
  received_.erase(0, parsed_bytes_);
  parsed_bytes_ = 0;
  const std::size_t before = received_.size();
  received_.resize(before + most_bytes);
  const ssize_t count = ::recv(socket_, received_.data() + before, most_bytes, 0);
  received_.resize(before + (count > 0 ? static_cast<std::size_t>(count) : 0));
  if (count == 0) errno = ECONNRESET;
  if (count == 0 || (count < 0 && errno != EINTR)) fail("receiving");
}

}  // namespace falafel::load_generator
