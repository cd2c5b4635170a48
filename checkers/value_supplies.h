// Counts, for each value of a register, the operations that are not yet ordered and need the value,
// and those that may write it. An order must not overwrite a value that an answer still needs if no
// remaining operation can write it again. With this rule, histories in which all values differ need
// almost no search.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace falafel::checkers {

class ValueSupplies {
 public:
  // Values are numbers; this one stands for no value.
  static constexpr std::uint32_t no_value = 0xffff'ffffU;

  // Forgets the operations of a value.
  void reset(std::uint32_t value) {
    if (value == no_value) return;
    if (value >= supplies_.size()) supplies_.resize(value + std::size_t{1});
    supplies_[value] = {};
  }

  // `change` is 1 for an operation that remains to be ordered, -1 for one that has been ordered.
  void count(std::uint32_t needed, std::uint32_t written, std::int32_t change) {
    if (needed != no_value) supplies_[needed].readers += change;
    if (written != no_value) supplies_[written].writers += change;
  }

  // Returns true if the next operation of the order may overwrite `value`. That operation needs
  // `needed` itself, or no value.
  bool may_be_overwritten(std::uint32_t value, std::uint32_t needed) const {
    const Supply& supply = supplies_[value];
    return supply.writers > 0 || supply.readers <= (needed == value ? 1 : 0);
  }

 private:
  struct Supply {
    std::int32_t readers = 0;  // need the value
    std::int32_t writers = 0;  // may write the value
  };

  // By value. Values that do not occur may have leftovers of other histories.
  std::vector<Supply> supplies_;
};

}  // namespace falafel::checkers
