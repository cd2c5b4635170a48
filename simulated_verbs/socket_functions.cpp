// The C library's functions of sockets and descriptors, except for transfers of data.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstdarg>

#include "simulated_verbs/not_simulated.h"
#include "simulated_verbs/system_call.h"

// NOLINTBEGIN(readability-identifier-naming): the linker gives the names.

using falafel::simulated_verbs::is_simulated;
using falafel::simulated_verbs::report_not_simulated;
using falafel::simulated_verbs::running_process;
using falafel::simulated_verbs::Sockets;
using falafel::simulated_verbs::system_call;
using falafel::simulated_verbs::SystemResult;

extern "C" {

int __real_socket(int domain, int type, int protocol);
int __real_bind(int descriptor, const sockaddr* address, socklen_t length);
int __real_listen(int descriptor, int backlog);
int __real_accept(int descriptor, sockaddr* address, socklen_t* length);
int __real_accept4(int descriptor, sockaddr* address, socklen_t* length, int flags);
int __real_connect(int descriptor, const sockaddr* address, socklen_t length);
int __real_shutdown(int descriptor, int how);
int __real_setsockopt(int descriptor, int level, int name, const void* value, socklen_t length);
int __real_getsockopt(int descriptor, int level, int name, void* value, socklen_t* length);
int __real_getsockname(int descriptor, sockaddr* address, socklen_t* length);
int __real_getpeername(int descriptor, sockaddr* address, socklen_t* length);
int __real_close(int descriptor);
int __real_dup(int descriptor);
int __real_fcntl(int descriptor, int command, ...);
int __real_ioctl(int descriptor, unsigned long request, ...);

int __wrap_socket(int domain, int type, int protocol) {
  if (running_process() == nullptr) return __real_socket(domain, type, protocol);
  return system_call<int>("socket",
                          [&](Sockets& sockets) { return sockets.socket(domain, type, protocol); });
}

int __wrap_bind(int descriptor, const sockaddr* address, socklen_t length) {
  if (!is_simulated(descriptor)) return __real_bind(descriptor, address, length);
  return system_call<int>(
      "bind", [&](Sockets& sockets) { return sockets.bind(descriptor, address, length); });
}

int __wrap_listen(int descriptor, int backlog) {
  if (!is_simulated(descriptor)) return __real_listen(descriptor, backlog);
  return system_call<int>("listen",
                          [&](Sockets& sockets) { return sockets.listen(descriptor, backlog); });
}

int __wrap_accept4(int descriptor, sockaddr* address, socklen_t* length, int flags) {
  if (!is_simulated(descriptor)) return __real_accept4(descriptor, address, length, flags);
  return system_call<int>("accept", [&](Sockets& sockets) {
    return sockets.accept(descriptor, address, length, flags);
  });
}

int __wrap_accept(int descriptor, sockaddr* address, socklen_t* length) {
  if (!is_simulated(descriptor)) return __real_accept(descriptor, address, length);
  return __wrap_accept4(descriptor, address, length, 0);
}

int __wrap_connect(int descriptor, const sockaddr* address, socklen_t length) {
  if (!is_simulated(descriptor)) return __real_connect(descriptor, address, length);
  return system_call<int>(
      "connect", [&](Sockets& sockets) { return sockets.connect(descriptor, address, length); });
}

int __wrap_shutdown(int descriptor, int how) {
  if (!is_simulated(descriptor)) return __real_shutdown(descriptor, how);
  return system_call<int>("shutdown",
                          [&](Sockets& sockets) { return sockets.shut_down(descriptor, how); });
}

int __wrap_setsockopt(int descriptor, int level, int name, const void* value, socklen_t length) {
  if (!is_simulated(descriptor)) return __real_setsockopt(descriptor, level, name, value, length);
  return system_call<int>("setsockopt", [&](Sockets& sockets) {
    return sockets.set_option(descriptor, level, name, value, length);
  });
}

int __wrap_getsockopt(int descriptor, int level, int name, void* value, socklen_t* length) {
  if (!is_simulated(descriptor)) return __real_getsockopt(descriptor, level, name, value, length);
  return system_call<int>("getsockopt", [&](Sockets& sockets) {
    return sockets.get_option(descriptor, level, name, value, length);
  });
}

int __wrap_getsockname(int descriptor, sockaddr* address, socklen_t* length) {
  if (!is_simulated(descriptor)) return __real_getsockname(descriptor, address, length);
  return system_call<int>("getsockname", [&](Sockets& sockets) {
    return sockets.local_address(descriptor, address, length);
  });
}

int __wrap_getpeername(int descriptor, sockaddr* address, socklen_t* length) {
  if (!is_simulated(descriptor)) return __real_getpeername(descriptor, address, length);
  return system_call<int>("getpeername", [&](Sockets& sockets) {
    return sockets.peer_address(descriptor, address, length);
  });
}

int __wrap_close(int descriptor) {
  if (!is_simulated(descriptor)) return __real_close(descriptor);
  return system_call<int>("close", [&](Sockets& sockets) { return sockets.close(descriptor); });
}

int __wrap_dup(int descriptor) {
  if (!is_simulated(descriptor)) return __real_dup(descriptor);
  return system_call<int>("dup", [&](Sockets& sockets) { return sockets.duplicate(descriptor); });
}

// The argument is a number or a pointer, or absent. A caller passes it in a register, so that
// reading an absent one is harmless.
int __wrap_fcntl(int descriptor, int command, ...) {
  va_list arguments;
  va_start(arguments, command);
  const long argument = va_arg(arguments, long);
  va_end(arguments);
  if (!is_simulated(descriptor)) return __real_fcntl(descriptor, command, argument);
  return system_call<int>(
      "fcntl", [&](Sockets& sockets) { return sockets.control(descriptor, command, argument); });
}

int __wrap_fcntl64(int descriptor, int command, ...) {
  va_list arguments;
  va_start(arguments, command);
  const long argument = va_arg(arguments, long);
  va_end(arguments);
  return __wrap_fcntl(descriptor, command, argument);
}

int __wrap_ioctl(int descriptor, unsigned long request, ...) {
  va_list arguments;
  va_start(arguments, request);
  void* const argument = va_arg(arguments, void*);
  va_end(arguments);
  if (!is_simulated(descriptor)) return __real_ioctl(descriptor, request, argument);
  return system_call<int>("ioctl", [&](Sockets& sockets) -> SystemResult {
    const auto found = sockets.find(descriptor);
    if (found == nullptr) return -EBADF;
    if (request == FIONBIO) {
      found->set_nonblocking(*static_cast<const int*>(argument) != 0);
      return 0;
    }
    report_not_simulated(fmt::format("ioctl(request {:#x})", request));
    return -EINVAL;
  });
}

}  // extern "C"

// NOLINTEND(readability-identifier-naming)
