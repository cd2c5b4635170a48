#include "fabric/shm/socket.h"

#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "fabric/realtime/descriptor_shortage.h"
#include "fabric/shm/trust.h"

namespace falafel::shm {

using fabric::ErrorCode;
using fabric::make_error;
using fabric::Result;

namespace {

constexpr int socket_type = SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK;
constexpr int backlog = 128;

Result<sockaddr_un> address_of(const std::filesystem::path& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string& text = path.native();
  if (text.size() >= sizeof address.sun_path) {
    return make_error(ErrorCode::invalid_argument,
                      fmt::format("the socket's path '{}' is longer than {} bytes; use a shorter "
                                  "directory",
                                  text, sizeof address.sun_path - 1));
  }
  std::memcpy(address.sun_path, text.data(), text.size());
  return address;
}

const sockaddr* generic(const sockaddr_un& address) {
  return reinterpret_cast<const sockaddr*>(&address);
}

// Room for descriptors beside a message.
constexpr std::size_t most_attachments = 2;
union Attachment {
  cmsghdr header;
  std::byte bytes[CMSG_SPACE(most_attachments * sizeof(int))];
};

// The descriptor at that position, if as many are attached.
FileDescriptor attached_to(msghdr& message, std::size_t position) {
  const cmsghdr* const header = CMSG_FIRSTHDR(&message);
  if (header == nullptr || header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS ||
      header->cmsg_len < CMSG_LEN((position + 1) * sizeof(int))) {
    return {};
  }
  int descriptor = -1;
  std::memcpy(&descriptor, CMSG_DATA(header) + position * sizeof descriptor, sizeof descriptor);
  return FileDescriptor(descriptor);
}

}  // namespace

Result<FileDescriptor> listen_at(const std::filesystem::path& path) {
  const auto address = address_of(path);
  if (!address) return tl::unexpected(address.error());
  FileDescriptor socket(::socket(AF_UNIX, socket_type, 0));
  if (!socket.is_open() || ::bind(socket.get(), generic(*address), sizeof *address) != 0 ||
      ::listen(socket.get(), backlog) != 0) {
    const bool in_use = errno == EADDRINUSE;
    return make_error(
        in_use ? ErrorCode::address_in_use : ErrorCode::invalid_argument,
        fmt::format("cannot listen at '{}': {}", path.native(), std::strerror(errno)));
  }
  return socket;
}

Result<FileDescriptor> connect_to(const std::filesystem::path& path) {
  const auto address = address_of(path);
  if (!address) return tl::unexpected(address.error());
  auto owner = owner_of(path);
  if (!owner) return tl::unexpected(owner.error());
  FileDescriptor socket(::socket(AF_UNIX, socket_type, 0));
  if (socket.is_open() && ::connect(socket.get(), generic(*address), sizeof *address) == 0) {
    // The server may have made its socket after the look at it.
    if (!*owner) owner = owner_of(path);
    if (!owner) return tl::unexpected(owner.error());
    const auto checked = check_server(socket.get(), *owner);
    if (checked) return socket;
    return make_error(checked.error().code,
                      fmt::format("'{}': {}", path.native(), checked.error().detail));
  }
  const int error = errno;
  const auto refuse = [&](ErrorCode code, std::string_view why) {
    return make_error(code, fmt::format("'{}': {}", path.native(), why));
  };
  switch (error) {
    case ENOENT:
      return std::filesystem::is_directory(path.parent_path())
                 ? refuse(ErrorCode::connection_refused, "nobody listens there")
                 : refuse(ErrorCode::unreachable,
                          "there is no such host; is it running, and is this "
                          "its directory?");
    case ECONNREFUSED:
      return refuse(ErrorCode::unreachable, "who listened there is gone; start it again");
    case EAGAIN: return refuse(ErrorCode::unreachable, "too many wait there to be connected");
    case EACCES:
    case EPERM:
      return refuse(ErrorCode::unreachable,
                    "permission denied; run as the user who started it, or let its directory be "
                    "opened to this one");
    default: return refuse(ErrorCode::unreachable, std::strerror(error));
  }
}

Accepted accept_from(int listener) {
  using Kind = Accepted::Kind;
  for (;;) {
    FileDescriptor socket(::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (socket.is_open()) return {.kind = Kind::caller, .socket = std::move(socket), .error = 0};
    if (errno == EINTR || errno == ECONNABORTED) continue;
    if (!fabric::is_out_of_descriptors(errno)) return {};
    return {.kind = Kind::no_descriptors, .socket = {}, .error = errno};
  }
}

bool send_message(int socket, std::span<const std::byte> message, const FileDescriptor* attached,
                  const FileDescriptor* attached_second) {
  iovec data{const_cast<std::byte*>(message.data()), message.size()};
  msghdr header{};
  header.msg_iov = &data;
  header.msg_iovlen = 1;
  Attachment attachment{};
  if (attached != nullptr) {
    const std::array descriptors{attached->get(),
                                 attached_second != nullptr ? attached_second->get() : -1};
    const std::size_t length = (attached_second != nullptr ? 2 : 1) * sizeof(int);
    header.msg_control = attachment.bytes;
    header.msg_controllen = CMSG_SPACE(length);
    cmsghdr* const rights = CMSG_FIRSTHDR(&header);
    rights->cmsg_level = SOL_SOCKET;
    rights->cmsg_type = SCM_RIGHTS;
    rights->cmsg_len = CMSG_LEN(length);
    std::memcpy(CMSG_DATA(rights), descriptors.data(), length);
  }
  return ::sendmsg(socket, &header, MSG_NOSIGNAL) == static_cast<ssize_t>(message.size());
}

ReceivedMessage receive_message(int socket, std::span<std::byte> buffer,
                                std::size_t most_attached) {
  iovec data{buffer.data(), buffer.size()};
  Attachment attachment{};
  msghdr header{};
  header.msg_iov = &data;
  header.msg_iovlen = 1;
  header.msg_control = attachment.bytes;
  // With the padding at its end, there would be room for another one.
  header.msg_controllen = CMSG_LEN(std::min(most_attached, most_attachments) * sizeof(int));
  const ssize_t length = ::recvmsg(socket, &header, MSG_CMSG_CLOEXEC);
  if (length < 0 && (errno == EAGAIN || errno == EINTR)) {
    return {.kind = ReceivedMessage::Kind::nothing_yet,
            .length_bytes = 0,
            .attached = {},
            .attached_second = {},
            .lost_attachment = false};
  }
  if (length < 0) return {};
  FileDescriptor attached = attached_to(header, 0);  // a message of no bytes may have one, too
  FileDescriptor attached_second = attached_to(header, 1);
  if (length == 0) return {};
  const bool is_lost = !attached.is_open() && (header.msg_flags & MSG_CTRUNC) != 0;
  return {.kind = ReceivedMessage::Kind::message,
          .length_bytes = static_cast<std::size_t>(length),
          .attached = std::move(attached),
          .attached_second = std::move(attached_second),
          .lost_attachment = is_lost};
}

pid_t process_number_of(const FileDescriptor& socket) {
  ucred credentials{};
  socklen_t length = sizeof credentials;
  return ::getsockopt(socket.get(), SOL_SOCKET, SO_PEERCRED, &credentials, &length) == 0
             ? credentials.pid
             : 0;
}

Result<FileDescriptor> process_of(const FileDescriptor& socket) {
  const pid_t number = process_number_of(socket);
  if (number == 0) return FileDescriptor{};
  FileDescriptor process(static_cast<int>(::syscall(SYS_pidfd_open, number, 0U)));
  if (!process.is_open() && fabric::is_out_of_descriptors(errno)) {
    return make_error(ErrorCode::out_of_memory,
                      fmt::format("no descriptor for the process of a peer: {}; raise the limit of "
                                  "open files (ulimit -n)",
                                  std::strerror(errno)));
  }
  return process;
}

}  // namespace falafel::shm
