// Which fabric a program uses, and what that needs to know.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace falafel {

struct FabricOptions {
  std::string fabric = "shm";  // shm: shared memory of this machine
  // shm: where servers leave their sockets. Empty: default_directory().
  std::filesystem::path directory;
  // shm: pages of 2 MiB, which the system must have set aside (vm.nr_hugepages).
  bool huge_pages = false;
  // shm: all memory of this process on the fabric, at most.
  std::uint64_t memory_limit_bytes = std::uint64_t{1} << 36U;
};

// $FALAFEL_DIRECTORY; else $XDG_RUNTIME_DIR/falafel; else /tmp/falafel- and the user's number.
std::filesystem::path default_directory();

}  // namespace falafel
