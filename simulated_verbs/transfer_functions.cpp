// The C library's functions that read from descriptors and write to them, also those that compilers
// call in their place when they know the size of the buffer (__read_chk).
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <span>
#include <vector>

#include "simulated_verbs/system_call.h"

namespace falafel::simulated_verbs {

namespace {

SystemResult receive_bytes(int descriptor, void* buffer, std::size_t bytes, int flags) {
  return system_call<SystemResult>("recv", [&](Sockets& sockets) {
    return sockets.receive(descriptor, as_buffer(buffer, bytes), flags);
  });
}

SystemResult send_bytes(int descriptor, const void* data, std::size_t bytes, int flags) {
  return system_call<SystemResult>("send", [&](Sockets& sockets) {
    return sockets.send(descriptor, as_buffer(data, bytes), flags);
  });
}

// Fills part after part, of which only the first one waits.
SystemResult receive_parts(int descriptor, const iovec* parts, std::size_t count, int flags) {
  SystemResult received = 0;
  for (std::size_t index = 0; index < count; ++index) {
    const std::size_t wanted_bytes = parts[index].iov_len;
    if (wanted_bytes == 0) continue;
    const SystemResult bytes = receive_bytes(descriptor, parts[index].iov_base, wanted_bytes,
                                             flags | (received > 0 ? MSG_DONTWAIT : 0));
    if (bytes < 0) return received > 0 ? received : bytes;
    received += bytes;
    if (static_cast<std::size_t>(bytes) < wanted_bytes) break;
  }
  return received;
}

// In one piece, so that it arrives as what one call has sent.
SystemResult send_parts(int descriptor, const iovec* parts, std::size_t count, int flags) {
  return system_call<SystemResult>("writev", [&](Sockets& sockets) {
    std::vector<std::byte> whole;
    for (const iovec& part : std::span(parts, count)) {
      const auto bytes = as_buffer(static_cast<const void*>(part.iov_base), part.iov_len);
      whole.insert(whole.end(), bytes.begin(), bytes.end());
    }
    return sockets.send(descriptor, whole, flags);
  });
}

SystemResult fail_transfer(int error) {
  errno = error;
  return -1;
}

void require_room(std::size_t bytes, std::size_t buffer_bytes) {
  if (bytes > buffer_bytes) std::abort();  // as the C library does
}

}  // namespace
}  // namespace falafel::simulated_verbs

// NOLINTBEGIN(readability-identifier-naming): the linker gives the names.

namespace library = falafel::simulated_verbs;
using library::is_simulated;

extern "C" {

ssize_t __real_read(int descriptor, void* buffer, std::size_t bytes);
ssize_t __real_write(int descriptor, const void* data, std::size_t bytes);
ssize_t __real_readv(int descriptor, const iovec* parts, int count);
ssize_t __real_writev(int descriptor, const iovec* parts, int count);
ssize_t __real_recv(int descriptor, void* buffer, std::size_t bytes, int flags);
ssize_t __real_send(int descriptor, const void* data, std::size_t bytes, int flags);
ssize_t __real_recvfrom(int descriptor, void* buffer, std::size_t bytes, int flags,
                        sockaddr* address, socklen_t* length);
ssize_t __real_sendto(int descriptor, const void* data, std::size_t bytes, int flags,
                      const sockaddr* address, socklen_t length);
ssize_t __real_recvmsg(int descriptor, msghdr* message, int flags);
ssize_t __real_sendmsg(int descriptor, const msghdr* message, int flags);

ssize_t __wrap_recv(int descriptor, void* buffer, std::size_t bytes, int flags) {
  if (!is_simulated(descriptor)) return __real_recv(descriptor, buffer, bytes, flags);
  return library::receive_bytes(descriptor, buffer, bytes, flags);
}

ssize_t __wrap_send(int descriptor, const void* data, std::size_t bytes, int flags) {
  if (!is_simulated(descriptor)) return __real_send(descriptor, data, bytes, flags);
  return library::send_bytes(descriptor, data, bytes, flags);
}

ssize_t __wrap_read(int descriptor, void* buffer, std::size_t bytes) {
  if (!is_simulated(descriptor)) return __real_read(descriptor, buffer, bytes);
  return library::receive_bytes(descriptor, buffer, bytes, 0);
}

ssize_t __wrap_write(int descriptor, const void* data, std::size_t bytes) {
  if (!is_simulated(descriptor)) return __real_write(descriptor, data, bytes);
  return library::send_bytes(descriptor, data, bytes, 0);
}

ssize_t __wrap_readv(int descriptor, const iovec* parts, int count) {
  if (!is_simulated(descriptor)) return __real_readv(descriptor, parts, count);
  if (count < 0) return library::fail_transfer(EINVAL);
  return library::receive_parts(descriptor, parts, static_cast<std::size_t>(count), 0);
}

ssize_t __wrap_writev(int descriptor, const iovec* parts, int count) {
  if (!is_simulated(descriptor)) return __real_writev(descriptor, parts, count);
  if (count < 0) return library::fail_transfer(EINVAL);
  return library::send_parts(descriptor, parts, static_cast<std::size_t>(count), 0);
}

ssize_t __wrap_recvfrom(int descriptor, void* buffer, std::size_t bytes, int flags,
                        sockaddr* address, socklen_t* length) {
  if (!is_simulated(descriptor)) {
    return __real_recvfrom(descriptor, buffer, bytes, flags, address, length);
  }
  if (address != nullptr && length != nullptr) *length = 0;  // TCP does not say it here
  return library::receive_bytes(descriptor, buffer, bytes, flags);
}

ssize_t __wrap_sendto(int descriptor, const void* data, std::size_t bytes, int flags,
                      const sockaddr* address, socklen_t length) {
  if (!is_simulated(descriptor)) {
    return __real_sendto(descriptor, data, bytes, flags, address, length);
  }
  return library::send_bytes(descriptor, data, bytes, flags);
}

ssize_t __wrap_recvmsg(int descriptor, msghdr* message, int flags) {
  if (!is_simulated(descriptor)) return __real_recvmsg(descriptor, message, flags);
  message->msg_namelen = 0;
  message->msg_controllen = 0;
  message->msg_flags = 0;
  return library::receive_parts(descriptor, message->msg_iov, message->msg_iovlen, flags);
}

ssize_t __wrap_sendmsg(int descriptor, const msghdr* message, int flags) {
  if (!is_simulated(descriptor)) return __real_sendmsg(descriptor, message, flags);
  return library::send_parts(descriptor, message->msg_iov, message->msg_iovlen, flags);
}

ssize_t __wrap___read_chk(int descriptor, void* buffer, std::size_t bytes,
                          std::size_t buffer_bytes) {
  library::require_room(bytes, buffer_bytes);
  return __wrap_read(descriptor, buffer, bytes);
}

ssize_t __wrap___recv_chk(int descriptor, void* buffer, std::size_t bytes, std::size_t buffer_bytes,
                          int flags) {
  library::require_room(bytes, buffer_bytes);
  return __wrap_recv(descriptor, buffer, bytes, flags);
}

ssize_t __wrap___recvfrom_chk(int descriptor, void* buffer, std::size_t bytes,
                              std::size_t buffer_bytes, int flags, sockaddr* address,
                              socklen_t* length) {
  library::require_room(bytes, buffer_bytes);
  return __wrap_recvfrom(descriptor, buffer, bytes, flags, address, length);
}

}  // extern "C"

// NOLINTEND(readability-identifier-naming)
