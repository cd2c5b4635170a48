// Selects and configures a program's fabric.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace falafel {

// verbs: a second port of a client's machine. See the options of the same names below; at least one
// of them must be set.
struct SparePort {
  std::string device{};
  std::uint8_t port = 0;
  std::optional<std::uint8_t> gid_index{};
  std::string own_address{};
};

struct FabricOptions {
  // shm: shared memory of this machine. verbs: InfiniBand or RoCE, if the library was built with
  // it. With verbs, servers are named by their addresses.
  std::string fabric = "shm";
  // shm: the directory of the servers' sockets. Empty: default_directory().
  std::filesystem::path directory{};
  // Use pages of 2 MiB, which must be reserved in the system (vm.nr_hugepages).
  bool huge_pages = false;
  // shm: the limit for this process's memory on the fabric.
  std::uint64_t memory_limit_bytes = std::uint64_t{1} << 36U;
  // verbs: the device, as `ibv_devices` lists it; its port, starting from 1; and the index of its
  // GID. If empty, 0 or absent, the active one with this machine's own address is chosen, and on
  // InfiniBand the first active one.
  std::string device{};
  std::uint8_t port = 0;
  std::optional<std::uint8_t> gid_index{};
  // verbs: the key of the partition; the IP traffic class of RoCE v2, with the DSCP in its upper
  // six bits; and the service level of InfiniBand, or VLAN priority of RoCE
  // (fabric/verbs/options.h).
  std::optional<std::uint16_t> partition_key{};
  std::uint8_t traffic_class = 0;
  std::uint8_t service_level = 0;
  // verbs: the address or name of this machine for clients. Empty: the machine's own name.
  std::string own_address{};
  // verbs: another port. A store connects by it when it cannot by the first one, and the other way
  // round. The server must be reachable from both (docs/deploy.md, "A client with two ports").
  // Servers use one port.
  std::optional<SparePort> spare{};
  // Receives what the fabric reports about itself. verbs: what the device says, such as that a
  // port goes down, and its own text for the first failure of each connection. Servers: that no
  // file descriptor is left for clients. May be called from any thread of the library.
  std::function<void(std::string_view)> report_failure{};
};

// The default name of a server on this machine: `falafel`, or its own address with verbs.
std::string own_server_name(const FabricOptions& options);

// $FALAFEL_DIRECTORY; otherwise $XDG_RUNTIME_DIR/falafel; otherwise /tmp/falafel-<user number>. A
// variable that is empty counts as unset, and so does a relative path in XDG_RUNTIME_DIR.
std::filesystem::path default_directory();

}  // namespace falafel
