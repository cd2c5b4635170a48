// What is chosen when a host is made: its name in the network, its devices, and how it waits. The
// defaults fit InfiniBand and RoCE with one device.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace falafel::verbs {

struct DeviceOptions {
  // As `ibv_devices` lists it. Empty: the first that has an active port.
  std::string name;
  // Counted from 1. 0: the first that is active.
  std::uint8_t port = 0;
  // Index in the port's table of GIDs. Absent: on Ethernet (RoCE), the RoCE v2 GID of the host's own
  // address, or else of any IPv4 address; on InfiniBand, 0.
  std::optional<std::uint8_t> gid_index;
};

// How to wait for completions: by looking for them again and again, which is fastest and takes a whole
// processor, or asleep until the device interrupts.
inline constexpr std::uint64_t always_spin_ns = ~std::uint64_t{0};
inline constexpr std::uint64_t never_spin_ns = 0;

struct HostOptions {
  // The name or address under which others reach this host, and it itself. It listens there.
  std::string name;
  std::vector<DeviceOptions> devices{1};
  // How long to look for completions before sleeping.
  std::uint64_t spin_ns = 50'000;
  // 0: ordinary pages. Else blocks of at least this size are made of pages of this size (2 MiB or 1 GiB),
  // which spares the device's and the processor's translation tables.
  std::uint64_t huge_page_bytes = 0;
  // Memory is taken from this NUMA node if it has any left. Absent: from that of the first device.
  std::optional<std::uint32_t> numa_node{};
  // Told the device's own words for every request that fails first on its queue pair.
  std::function<void(std::string_view)> report_failure{};
};

}  // namespace falafel::verbs
