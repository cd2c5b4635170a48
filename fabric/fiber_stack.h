// Stacks of fibers. A pool maps them in groups and reuses them, because mapping a stack takes
// longer than running a short fiber. Each stack fills a slot of a power-of-two size, aligned to
// that size. The lowest page of the slot is a guard page, and the highest bytes are its label:
//
//   slot start | guard page | stack, growing down ... | label | slot end
//
// Any address within a slot yields the address of its label by arithmetic alone. The SIGSEGV
// handler uses this to identify the fiber that overflowed, without a registry.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <string_view>
#include <vector>

#include "fabric/sanitizers.h"

namespace falafel::fabric {

#if defined(FALAFEL_ADDRESS_SANITIZER) || defined(FALAFEL_THREAD_SANITIZER)
// larger, because sanitizers enlarge every frame
inline constexpr std::size_t stack_slot_bytes = 512 * 1024;
#elif defined(__aarch64__)
inline constexpr std::size_t stack_slot_bytes = 256 * 1024;  // the guard page may take 64 KiB
#else
inline constexpr std::size_t stack_slot_bytes = 128 * 1024;
#endif

// A stack of a pool. `lowest` is the first usable byte, and `highest` is one past the last; the
// initial stack pointer is `highest`.
struct FiberStack {
  std::byte* lowest = nullptr;
  std::byte* highest = nullptr;
  void* thread_sanitizer_fiber = nullptr;

  std::size_t size_bytes() const { return static_cast<std::size_t>(highest - lowest); }
  // Sets the name for overflow reports, truncated to the size of the label.
  void set_name(std::string_view name);
};

// Not thread-safe: use one pool per thread. All stacks must have been returned before the pool is
// destroyed.
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

// Installs, for the whole process and the calling thread, a SIGSEGV handler that runs on its own
// stack. An access to the guard page of a fiber aborts with the name of the fiber and the size of
// its stack; every other fault takes the default action. For use in main() of programs that run
// fibers; the object must outlive the fibers.
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
