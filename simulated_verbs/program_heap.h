// The heap of a process: what its program gets from malloc and its relatives. It lies at a fixed
// address, so that addresses that a program sends to its peers are the same whenever a run is
// repeated. Memory is zero until it is used again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory_resource>

namespace falafel::simulated_verbs {

class ProgramHeap {
 public:
  static constexpr std::size_t size_bytes = std::size_t{4} << 30U;  // of addresses

  // Throws a std::runtime_error that names the address if another heap of that number exists in
  // this process, or if something else lies there.
  // A shared one is a file that another process can map, at the same address.
  ProgramHeap(std::uint32_t number, bool is_shared);
  ~ProgramHeap();
  ProgramHeap(const ProgramHeap&) = delete;
  ProgramHeap& operator=(const ProgramHeap&) = delete;

  // Null if there is no room. `alignment` is a power of two.
  void* allocate(std::size_t bytes, std::size_t alignment = alignof(std::max_align_t));
  // `memory`: what allocate returned.
  void free(void* memory);
  std::size_t size_of(const void* memory) const;

  bool contains(const void* memory) const;
  std::uint32_t number() const { return number_; }
  std::byte* begin() const { return mapping_.begin; }
  // The file; -1 if it is not shared.
  int descriptor() const { return mapping_.descriptor; }

 private:
  // In front of each allocation.
  struct alignas(std::max_align_t) Header {
    std::size_t bytes;        // as asked for
    std::size_t whole_bytes;  // from `start` on
    std::size_t alignment;
    std::byte* start;
  };
  static Header& header_of(const void* memory);

  struct Mapping {
    Mapping(std::uint32_t number, bool is_shared);
    ~Mapping();
    Mapping(const Mapping&) = delete;
    Mapping& operator=(const Mapping&) = delete;
    std::byte* begin = nullptr;
    int descriptor = -1;
  };

  std::uint32_t number_;
  Mapping mapping_;
  std::pmr::monotonic_buffer_resource pages_;
  std::pmr::unsynchronized_pool_resource pools_;
};

}  // namespace falafel::simulated_verbs
