#include "checkers/linearization/string_table.h"

#include <algorithm>
#include <bit>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace falafel::checkers::linearization {

void StringTable::clear(std::size_t expected_strings) {
  const std::size_t count = std::bit_ceil(2 * expected_strings + 2);
  if (slots_.size() < count) slots_.resize(count);
  std::fill_n(slots_.begin(), count, Slot{});
  mask_ = count - 1;
  strings_.clear();
}

std::uint32_t StringTable::number_of(std::string_view bytes) {
  const auto hash = static_cast<std::uint32_t>(XXH3_64bits(bytes.data(), bytes.size()));
  std::size_t index = hash & mask_;
  while (slots_[index].number != unused) {
    const Slot& slot = slots_[index];
    if (slot.hash == hash && strings_[slot.number] == bytes) return slot.number;
    index = (index + 1) & mask_;
  }
  const auto number = static_cast<std::uint32_t>(strings_.size());
  strings_.push_back(bytes);
  slots_[index] = {hash, number};
  if (2 * strings_.size() > mask_) grow();
  return number;
}

void StringTable::place(Slot slot) {
  std::size_t index = slot.hash & mask_;
  while (slots_[index].number != unused) index = (index + 1) & mask_;
  slots_[index] = slot;
}

void StringTable::grow() {
  const std::vector<Slot> old(slots_.begin(),
                              slots_.begin() + static_cast<std::ptrdiff_t>(mask_ + 1));
  mask_ = 2 * mask_ + 1;
  slots_.assign(mask_ + 1, Slot{});
  for (const Slot& slot : old) {
    if (slot.number != unused) place(slot);
  }
}

}  // namespace falafel::checkers::linearization
