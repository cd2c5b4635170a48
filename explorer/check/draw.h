// Random numbers that are remembered, so that what was drawn from them can be drawn again, and made
// simpler: while a failing run is shrunk, single numbers become smaller. A generator should
// therefore draw the simplest value from 0.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <utility>
#include <vector>

#include "fabric/random.h"

namespace falafel::check {

class Draw {
 public:
  // Draws new numbers.
  explicit Draw(fabric::RandomGenerator& random) : random_(&random) {}
  // Draws the same numbers again, and 0 when there are no more.
  explicit Draw(std::vector<std::uint64_t> numbers) : numbers_(std::move(numbers)) {}

  // A number below `bound`, which is at least 1.
  std::uint64_t below(std::uint64_t bound) {
    if (random_ != nullptr) numbers_.push_back(random_->below(bound));
    return next_ < numbers_.size() ? numbers_[next_++] % bound : 0;
  }
  // True once in `count` times.
  bool one_in(std::uint64_t count) { return below(count) == count - 1; }
  template <typename Value>
  Value one_of(std::initializer_list<Value> values) {
    return values.begin()[below(values.size())];
  }

  const std::vector<std::uint64_t>& numbers() const { return numbers_; }

 private:
  fabric::RandomGenerator* random_ = nullptr;  // null: the numbers are given
  std::vector<std::uint64_t> numbers_;
  std::size_t next_ = 0;
};

}  // namespace falafel::check
