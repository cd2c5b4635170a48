// Maps strings to numbers: equal strings get equal numbers, assigned consecutively from 0. The
// table uses open addressing. It does not copy strings, so they must outlive it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace falafel::checkers::linearization {

class StringTable {
 public:
  // Forgets all strings but keeps the memory.
  void clear(std::size_t expected_strings);

  std::uint32_t number_of(std::string_view bytes);
  std::span<const std::string_view> strings() const { return strings_; }

 private:
  struct Slot {
    std::uint32_t hash = 0;
    std::uint32_t number = unused;
  };
  static constexpr std::uint32_t unused = 0xffff'ffffU;

  void place(Slot slot);
  void grow();

  std::vector<std::string_view> strings_;
  std::vector<Slot> slots_;
  std::size_t mask_ = 0;  // a power of two minus 1; the slots in use are a prefix of slots_
};

}  // namespace falafel::checkers::linearization
