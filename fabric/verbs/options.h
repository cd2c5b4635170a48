// The options of a host: its name in the network, its devices, and how it waits. The defaults fit
// InfiniBand and RoCE with one device.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace falafel::verbs {

struct DeviceOptions {
  // A name that `ibv_devices` lists. Empty: any device.
  std::string name;
  // Counted from 1. 0: any port. Among several active ports, RoCE takes the one that has the host's
  // own address, and InfiniBand the first one.
  std::uint8_t port = 0;
  // An index in the port's table of GIDs. Absent: on Ethernet (RoCE), the RoCE v2 GID of the host's
  // own address, or else of any IPv4 address, or else of any IPv6 address; on InfiniBand, 0.
  std::optional<std::uint8_t> gid_index;
  // The partition that all queue pairs belong to: a key of the port's table, compared without its
  // highest bit, which stands for full membership. Absent: the first key. Both ends of a connection
  // need the same partition.
  std::optional<std::uint16_t> partition_key{};
  // On RoCE v2, the traffic class of the IP header of what this host sends: the DSCP in the upper
  // six bits. A network with a lossless class tells its packets by it.
  std::uint8_t traffic_class = 0;
  // On InfiniBand, the service level of what this host sends, 0 to 15; on RoCE, the priority of
  // the VLAN tag, 0 to 7.
  std::uint8_t service_level = 0;
  // On RoCE, the address that chooses the port and the GID. Empty: the host's name. Unless a device
  // is named, the port must have it.
  std::string own_address{};
};

// Two ways to wait for completions: poll all the time, which is fastest and uses a whole processor,
// or sleep until the device interrupts.
inline constexpr std::uint64_t always_spin_ns = ~std::uint64_t{0};
inline constexpr std::uint64_t never_spin_ns = 0;

struct HostOptions {
  // The name or address at which others reach this host. It listens there.
  std::string name;
  std::vector<DeviceOptions> devices{1};
  // If false, a device that cannot be opened is reported and left out, provided that another one
  // can be opened.
  bool needs_all_devices = true;
  // A host looks for completions this long before it sleeps.
  std::uint64_t spin_ns = 50'000;
  // 0: ordinary pages. Otherwise blocks of at least this size consist of pages of this size (2 MiB
  // or 1 GiB), which need fewer entries in the translation tables of the device and the processor.
  std::uint64_t huge_page_bytes = 0;
  // The NUMA node that memory comes from, if it has any left. Absent: the node of the first device.
  std::optional<std::uint32_t> numa_node{};
  // Receives the device's own text for the first failure of each queue pair, and a text when
  // listeners have no file descriptor left for a caller.
  std::function<void(std::string_view)> report_failure{};
};

}  // namespace falafel::verbs
