#include "simulated_verbs/unmodified/control_socket.h"

#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

namespace falafel::simulated_verbs {

ControlSocket::ControlSocket() {
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends_.data()) != 0) {
    throw std::system_error(errno, std::generic_category(), "socketpair");
  }
}

ControlSocket::~ControlSocket() {
  close_other_end();
  ::close(ends_[0]);
}

void ControlSocket::close_other_end() {
  if (ends_[1] >= 0) ::close(std::exchange(ends_[1], -1));
}

namespace {

struct alignas(cmsghdr) Control {
  std::array<char, CMSG_SPACE(sizeof(StartFiles))> bytes;
};

}  // namespace

bool ControlSocket::send(StartRequest request, const StartFiles& files) const {
  iovec text{.iov_base = &request, .iov_len = sizeof request};
  Control control{};
  msghdr message{};
  message.msg_iov = &text;
  message.msg_iovlen = 1;
  message.msg_control = control.bytes.data();
  message.msg_controllen = control.bytes.size();
  cmsghdr* const header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof files);
  std::memcpy(CMSG_DATA(header), files.data(), sizeof files);
  return ::sendmsg(ends_[0], &message, MSG_NOSIGNAL) == sizeof request;
}

bool ControlSocket::receive(void* message, std::size_t bytes) const {
  ssize_t received = 0;
  do {
    received = ::recv(ends_[0], message, bytes, 0);
  } while (received < 0 && errno == EINTR);
  return received == static_cast<ssize_t>(bytes);
}

}  // namespace falafel::simulated_verbs
