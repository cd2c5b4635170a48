// The options of a process in the fabric over shared memory.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string_view>

namespace falafel::shm {

struct ProcessOptions {
  // Listening hosts have their sockets here, at `<directory>/<host>/<service>`. If the directory
  // does not exist, it is created with access for this user only. One that another user could have
  // made or could change is refused (fabric/shm/trust.h).
  std::filesystem::path directory;
  // The limit for the memory of all hosts of this process. Until it is used, it takes address space
  // only.
  std::uint64_t memory_limit_bytes = std::uint64_t{1} << 36U;
  // Use pages of 2 MiB, which the system must have reserved (vm.nr_hugepages).
  bool huge_pages = false;
  // A host looks for work this long before it sleeps.
  std::uint64_t spin_ns = 20'000;
  // Receives a text when listeners have no file descriptor left for a caller. May be called from
  // any thread of the process, and must not throw.
  std::function<void(std::string_view)> report_failure{};
};

}  // namespace falafel::shm
