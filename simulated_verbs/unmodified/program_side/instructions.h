// The instructions of x86-64 that a loop may consist of which only waits.
#pragma once

#include <cstdint>

namespace falafel::simulated_verbs {

// The general registers as instructions number them, and where the instruction is.
struct Registers {
  std::uint64_t general[16];
  std::uint64_t flags;
  std::uint64_t instruction;
};

inline constexpr unsigned stack_pointer = 4;
inline constexpr unsigned frame_pointer = 5;

// The memory that an instruction may store to: the stack near its top.
struct StackRange {
  std::uint64_t begin;
  std::uint64_t end;
};

// True if the instruction that is next changes nothing but general registers, flags and the range.
// Not true for some that do the same, such as those of vectors.
bool stores_nothing_else(const Registers& registers, const StackRange& range);

}  // namespace falafel::simulated_verbs
