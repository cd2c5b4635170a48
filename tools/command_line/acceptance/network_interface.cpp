#include "tools/command_line/acceptance/network_interface.h"

#include <fmt/format.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace falafel::acceptance {

std::string set_interface(const std::string& name, bool is_up) {
  ifreq request{};
  if (name.empty() || name.size() >= sizeof request.ifr_name)
    return fmt::format("'{}' cannot be the name of an interface", name);
  std::ranges::copy(name, request.ifr_name);
  const int handle = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (handle < 0) return fmt::format("no socket: {}", std::strerror(errno));
  bool is_done = ::ioctl(handle, SIOCGIFFLAGS, &request) == 0;
  if (is_done) {
    const auto up = static_cast<short>(IFF_UP);
    request.ifr_flags =
        static_cast<short>(is_up ? request.ifr_flags | up : request.ifr_flags & ~up);
    is_done = ::ioctl(handle, SIOCSIFFLAGS, &request) == 0;
  }
  std::string problem = is_done ? ""
                                : fmt::format("interface {} cannot be taken {}: {}", name,
                                              is_up ? "up" : "down", std::strerror(errno));
  ::close(handle);
  return problem;
}

}  // namespace falafel::acceptance
