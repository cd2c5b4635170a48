// Stacks of fibers. A pool maps them in groups and hands them out again and again, because mapping a
// stack costs more than running a short fiber. Each stack fills a slot of a power-of-two size, aligned
// to it; the lowest page of the slot is a guard page, the highest bytes are its label:
//
//   slot start | guard page | stack, growing down ... | label | slot end
//
// From an address within a slot its label is found by arithmetic alone. That is how the handler for
// SIGSEGV tells which fiber overflowed, without a registry.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <string_view>
#include <vector>

#include "fabric/sanitizers.h"

namespace falafel::fabric {

#if defined(FALAFEL_ADDRESS_SANITIZER) || defined(FALAFEL_THREAD_SANITIZER)
inline constexpr std::size_t stack_slot_bytes = 512 * 1024;  // sanitizers enlarge every frame
#else
inline constexpr std::size_t stack_slot_bytes = 128 * 1024;
#endif

// One stack of a pool. `lowest` is the first usable byte, `highest` one past the last; the initial
// stack pointer is `highest`.
struct FiberStack {
  std::byte* lowest = nullptr;
  std::byte* highest = nullptr;
  void* thread_sanitizer_fiber = nullptr;

  std::size_t size_bytes() const { return static_cast<std::size_t>(highest - lowest); }
  // The name that a report of an overflow prints; cut to what the label holds.
  void set_name(std::string_view name);
};

// Not thread-safe: one pool per thread. All stacks must be back before the pool goes.
class FiberStackPool {
 public:
  FiberStackPool() = default;
  ~FiberStackPool();
  FiberStackPool(const FiberStackPool&) = delete;
  FiberStackPool& operator=(const FiberStackPool&) = delete;

  FiberStack acquire();
  void release(FiberStack stack);

 private:
  void map_group();

  std::vector<void*> groups_;
  std::vector<FiberStack> free_;
  std::size_t handed_out_ = 0;
};

// Installs, for the whole process and the calling thread, a handler for SIGSEGV that runs on a stack of
// its own: an access to the guard page of a fiber aborts with the name of the fiber and the size of its
// stack; every other fault takes the default action. For main() of programs that run fibers; the object
// must outlive them.
class StackOverflowReport {
 public:
  StackOverflowReport();
  ~StackOverflowReport();
  StackOverflowReport(const StackOverflowReport&) = delete;
  StackOverflowReport& operator=(const StackOverflowReport&) = delete;

 private:
  std::unique_ptr<std::byte[]> signal_stack_;
};

}  // namespace falafel::fabric
