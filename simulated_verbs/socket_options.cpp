// The options of TCP sockets. Most concern what the simulated network does not have: the socket
// keeps them for the program that asks for them.
#include <fmt/format.h>
#include <netinet/tcp.h>
#include <sys/time.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "fabric/time_units.h"
#include "simulated_verbs/not_simulated.h"
#include "simulated_verbs/tcp_socket.h"

namespace falafel::simulated_verbs {

namespace {

bool is_kept(int level, int name) {
  switch (level) {
    case SOL_SOCKET:
      switch (name) {
        case SO_BROADCAST:
        case SO_DONTROUTE:
        case SO_KEEPALIVE:
        case SO_OOBINLINE:
        case SO_PRIORITY:
        case SO_RCVBUF:
        case SO_RCVLOWAT:
        case SO_REUSEADDR:
        case SO_REUSEPORT:
        case SO_SNDBUF: return true;
        default: return false;
      }
    case IPPROTO_TCP:
      switch (name) {
        case TCP_CORK:
        case TCP_KEEPCNT:
        case TCP_KEEPIDLE:
        case TCP_KEEPINTVL:
        case TCP_NODELAY:
        case TCP_QUICKACK:
        case TCP_SYNCNT:
        case TCP_USER_TIMEOUT: return true;
        default: return false;
      }
    case IPPROTO_IP: return name == IP_TOS || name == IP_TTL;
    default: return false;
  }
}

SystemResult refuse_option(std::string_view call, int level, int name) {
  report_not_simulated(fmt::format("{}(level {}, option {})", call, level, name));
  return -ENOPROTOOPT;
}

template <typename Value>
SystemResult write_value(const Value& value, void* destination, socklen_t* length) {
  *length = std::min<socklen_t>(*length, sizeof value);
  std::memcpy(destination, &value, *length);
  return 0;
}

timeval to_timeval(std::uint64_t timeout_ns) {
  if (timeout_ns == fabric::never_ns) return {};
  return {
      .tv_sec = static_cast<time_t>(timeout_ns / fabric::second_ns),
      .tv_usec = static_cast<suseconds_t>(timeout_ns % fabric::second_ns / fabric::microsecond_ns)};
}

}  // namespace

SystemResult TcpSocket::set_option(int level, int name, const void* value, socklen_t length) {
  if (value == nullptr) return -EFAULT;
  const bool is_timeout = level == SOL_SOCKET && (name == SO_RCVTIMEO || name == SO_SNDTIMEO);
  if (is_timeout) {
    timeval time{};
    if (length < sizeof time) return -EINVAL;
    std::memcpy(&time, value, sizeof time);
    if (time.tv_usec < 0 || time.tv_usec >= 1'000'000) return -EDOM;
    const std::uint64_t timeout_ns =
        time.tv_sec < 0 ? 0
                        : static_cast<std::uint64_t>(time.tv_sec) * fabric::second_ns +
                              static_cast<std::uint64_t>(time.tv_usec) * fabric::microsecond_ns;
    (name == SO_RCVTIMEO ? receive_timeout_ns_ : send_timeout_ns_) =
        timeout_ns == 0 ? fabric::never_ns : timeout_ns;
    return 0;
  }
  // The end of a closed connection is delivered in the background, whatever the program says.
  if (level == SOL_SOCKET && name == SO_LINGER) return length < sizeof(linger) ? -EINVAL : 0;
  if (!is_kept(level, name)) return refuse_option("setsockopt", level, name);
  int number = 0;
  if (length < sizeof number) return -EINVAL;
  std::memcpy(&number, value, sizeof number);
  // Linux doubles sizes of buffers.
  const bool is_size = level == SOL_SOCKET && (name == SO_RCVBUF || name == SO_SNDBUF);
  options_[{level, name}] = is_size && number <= INT32_MAX / 2 ? 2 * number : number;
  return 0;
}

SystemResult TcpSocket::get_option(int level, int name, void* value, socklen_t* length) {
  if (value == nullptr || length == nullptr) return -EFAULT;
  if (level == SOL_SOCKET) {
    switch (name) {
      case SO_ERROR: return write_value(take_error(), value, length);
      case SO_TYPE: return write_value(int{SOCK_STREAM}, value, length);
      case SO_DOMAIN: return write_value(int{AF_INET}, value, length);
      case SO_PROTOCOL: return write_value(int{IPPROTO_TCP}, value, length);
      case SO_ACCEPTCONN: return write_value(int{listener_ != nullptr}, value, length);
      case SO_RCVTIMEO: return write_value(to_timeval(receive_timeout_ns_), value, length);
      case SO_SNDTIMEO: return write_value(to_timeval(send_timeout_ns_), value, length);
      case SO_LINGER: return write_value(linger{}, value, length);
      default: break;
    }
  }
  if (!is_kept(level, name)) return refuse_option("getsockopt", level, name);
  const auto kept = options_.find({level, name});
  return write_value(kept == options_.end() ? 0 : kept->second, value, length);
}

}  // namespace falafel::simulated_verbs
