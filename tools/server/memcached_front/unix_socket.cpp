#include "tools/server/memcached_front/unix_socket.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <system_error>

namespace falafel::memcached_front {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;

fabric::ErrorCode code_of(const error_code& error) {
  if (error == asio::error::access_denied) return fabric::ErrorCode::access_denied;
  if (error == asio::error::address_in_use) return fabric::ErrorCode::address_in_use;
  return fabric::ErrorCode::invalid_argument;
}

void remove_abandoned(asio::io_context& context, const UnixSocket::Protocol::endpoint& endpoint,
                      const std::filesystem::path& path) {
  std::error_code ignored;
  if (!std::filesystem::is_socket(path, ignored)) return;
  error_code refusal;
  UnixSocket::Protocol::socket(context).connect(endpoint, refusal);
  if (refusal == asio::error::connection_refused) std::filesystem::remove(path, ignored);
}

}  // namespace

fabric::Result<std::unique_ptr<UnixSocket>> UnixSocket::listen(asio::io_context& context,
                                                               const std::filesystem::path& path) {
  try {
    const Protocol::endpoint endpoint(path.string());
    remove_abandoned(context, endpoint, path);
    Protocol::acceptor acceptor(context, endpoint.protocol());
    // The file gets the mode that its socket has. A change of the file's mode would follow a
    // symbolic link that somebody put there meanwhile.
    ::fchmod(acceptor.native_handle(), S_IRWXU);
    acceptor.bind(endpoint);
    std::unique_ptr<UnixSocket> socket(new UnixSocket(std::move(acceptor), path));
    socket->acceptor_.listen();
    return socket;
  } catch (const boost::system::system_error& error) {
    return fabric::make_error(
        code_of(error.code()),
        fmt::format("--socket {}: {}; choose another path", path.string(), error.code().message()));
  }
}

UnixSocket::~UnixSocket() {
  error_code ignored;
  acceptor_.close(ignored);
  std::error_code also_ignored;
  std::filesystem::remove(path_, also_ignored);
}

}  // namespace falafel::memcached_front
