#include "tools/benchmarks/simulator/memory_meter.h"

#include <malloc.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdlib>
#include <new>

#include "fabric/assert.h"
#include "fabric/fiber_stack.h"

namespace {

std::uint64_t allocations = 0;

void* counted(void* memory) {
  if (memory == nullptr) throw std::bad_alloc();
  ++allocations;
  return memory;
}

}  // namespace

// The array and nothrow forms call this one.
void* operator new(std::size_t size_bytes) {
  return counted(std::malloc(std::max<std::size_t>(size_bytes, 1)));
}

void* operator new(std::size_t size_bytes, std::align_val_t alignment) {
  const auto alignment_bytes = static_cast<std::size_t>(alignment);
  const std::size_t whole_bytes = (size_bytes + alignment_bytes - 1) & ~(alignment_bytes - 1);
  return counted(std::aligned_alloc(alignment_bytes, std::max(whole_bytes, alignment_bytes)));
}

void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t /*size_bytes*/) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t /*alignment*/) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t /*size_bytes*/,
                     std::align_val_t /*alignment*/) noexcept {
  std::free(memory);
}

namespace falafel::simulator_benchmark {

std::uint64_t allocation_count() { return allocations; }

std::uint64_t allocated_bytes() {
  const struct mallinfo2 usage = ::mallinfo2();
  return usage.uordblks + usage.hblkhd;
}

std::uint64_t touched_stack_bytes() {
  constexpr std::size_t page_bytes = 4096;
  std::array<unsigned char, fabric::stack_slot_bytes / page_bytes> pages{};
  const auto offset =
      reinterpret_cast<std::uintptr_t>(pages.data()) & (fabric::stack_slot_bytes - 1);
  const int status = ::mincore(pages.data() - offset, fabric::stack_slot_bytes, pages.data());
  FALAFEL_ASSERT(status == 0, "mincore failed to report the stack's pages");
  const auto touched = std::count_if(pages.begin(), pages.end(),
                                     [](unsigned char page) { return (page & 1U) != 0; });
  return static_cast<std::uint64_t>(touched) * page_bytes;
}

}  // namespace falafel::simulator_benchmark
