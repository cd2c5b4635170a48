// Prints each traffic class with which packets of RoCE v2 arrive at this machine, once. A raw
// socket sees the packets of IPv4 before the device does.
#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/ip.h>
#include <netinet/udp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <optional>
#include <set>
#include <span>

#include "tests/vm/driver/driver.h"

namespace falafel::driver {
namespace {

constexpr std::uint16_t roce_port = 4791;

// Empty: the packet is of another protocol.
std::optional<std::uint8_t> traffic_class_of(std::span<const std::byte> packet) {
  ip internet{};
  udphdr datagram{};
  if (packet.size() < sizeof internet) return std::nullopt;
  std::memcpy(&internet, packet.data(), sizeof internet);
  const std::size_t header_bytes = internet.ip_hl * 4U;
  if (packet.size() < header_bytes + sizeof datagram) return std::nullopt;
  std::memcpy(&datagram, packet.data() + header_bytes, sizeof datagram);
  if (ntohs(datagram.uh_dport) != roce_port) return std::nullopt;
  return internet.ip_tos;
}

}  // namespace

int watch(const Settings& settings) {
  const int packets = ::socket(AF_INET, SOCK_RAW, IPPROTO_UDP);
  if (packets < 0) {
    fmt::print("no raw socket: {}\n", std::strerror(errno));
    return 2;
  }
  const auto end =
      std::chrono::steady_clock::now() + std::chrono::duration<double>(settings.seconds);
  std::set<std::uint8_t> seen;
  std::array<std::byte, 65'536> packet{};
  while (std::chrono::steady_clock::now() < end) {
    const ssize_t length = ::recv(packets, packet.data(), packet.size(), 0);
    if (length <= 0) continue;
    const auto found = traffic_class_of({packet.data(), static_cast<std::size_t>(length)});
    if (found && seen.insert(*found).second) fmt::print("traffic class {}\n", *found);
  }
  ::close(packets);
  return 0;
}

}  // namespace falafel::driver
