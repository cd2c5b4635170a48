// Which fabric a program uses, and what that needs to know.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace falafel {

struct FabricOptions {
  // shm: shared memory of this machine. verbs: InfiniBand or RoCE, where the library was built with it;
  // servers are then named by their addresses.
  std::string fabric = "shm";
  // shm: where servers leave their sockets. Empty: default_directory().
  std::filesystem::path directory{};
  // Pages of 2 MiB, which the system must have set aside (vm.nr_hugepages).
  bool huge_pages = false;
  // shm: all memory of this process on the fabric, at most.
  std::uint64_t memory_limit_bytes = std::uint64_t{1} << 36U;
  // verbs: the device, as `ibv_devices` lists it, its port, counted from 1, and the index of its GID. Empty,
  // 0, absent: chosen by what is active.
  std::string device{};
  std::uint8_t port = 0;
  std::optional<std::uint8_t> gid_index{};
  // verbs: address or name of this machine, for clients. Empty: the machine's own name.
  std::string own_address{};
};

// The name under which a server of this machine serves if it is given none: `falafel`; over verbs its own
// address.
std::string own_server_name(const FabricOptions& options);

// $FALAFEL_DIRECTORY; else $XDG_RUNTIME_DIR/falafel; else /tmp/falafel- and the user's number.
std::filesystem::path default_directory();

}  // namespace falafel
