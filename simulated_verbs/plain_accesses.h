// The plain loads and stores of a thread, announced by hooks that the compiler puts in front of
// them (memory_hooks/). The compiled code then makes the access itself, and nothing else runs
// until the thread calls the library again: settle() is the beginning of every call. So a load
// that the simulator answers with something older than the memory finds that in the memory, which
// gets its newest content back at the next call. A store is reported at the next call.
//
// A thread that loads an unchanged value again and again polls, and waits for something to happen.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "fabric/fabric.h"

namespace falafel::simulated_verbs {

class ProcessSite;
struct MemoryRegion;

class PlainAccesses {
 public:
  explicit PlainAccesses(ProcessSite& process) : process_(process) {}
  PlainAccesses(const PlainAccesses&) = delete;
  PlainAccesses& operator=(const PlainAccesses&) = delete;

  // Call before the thread loads or stores that range of the region.
  void expect_load(const MemoryRegion& region, const void* address, std::size_t length_bytes);
  void expect_store(const MemoryRegion& region, const void* address, std::size_t length_bytes);
  // The thread has loaded something that is not registered, and that another thread may change.
  void note_load(const void* address, std::uint64_t value);

  // Loads and stores that the library makes for the thread. The range is within the region.
  std::span<const std::byte> load(const MemoryRegion& region, const void* address,
                                  std::size_t length_bytes);  // until the next load
  static void store(const MemoryRegion& region, void* address, std::span<const std::byte> source);

  // Counts an access to memory that is not registered. True if the number since the last call
  // suggests that the thread waits for another thread.
  bool is_probably_waiting() { return ++accesses_ % accesses_of_waiting == 0; }

  void settle() {
    accesses_ = 0;
    if (shown_ != nullptr || stored_ != nullptr) settle_access();
  }

 private:
  static constexpr std::uint32_t accesses_of_waiting = 100'000;
  static constexpr std::size_t remembered_loads = 64;
  // A program may read a value several times without waiting for another one.
  static constexpr std::uint32_t loads_of_waiting = 8;

  struct Load {
    const void* address = nullptr;
    std::uint64_t value = 0;
    std::uint32_t repetitions = 0;
  };

  bool polls(const void* address, std::uint64_t value);
  void settle_access();

  ProcessSite& process_;
  std::uint32_t accesses_ = 0;  // since the last call
  std::vector<std::byte> seen_;
  std::vector<std::byte> newest_;
  std::byte* shown_ = nullptr;  // where `seen_` is in memory instead of `newest_`
  std::shared_ptr<fabric::MemoryBlock> stored_;
  std::uint64_t stored_offset_ = 0;
  std::uint64_t stored_bytes_ = 0;
  std::array<Load, remembered_loads> loads_{};  // by the address
};

}  // namespace falafel::simulated_verbs
