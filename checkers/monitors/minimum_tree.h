// A sequence of numbers in a tree, which finds the first small number of a range.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace falafel::checkers::monitors {

class MinimumTree {
 public:
  void assign(std::span<const std::int64_t> numbers) {
    leaves_ = std::bit_ceil(numbers.size() + 1);
    minimum_.assign(2 * leaves_, std::numeric_limits<std::int64_t>::max() / 2);
    added_.assign(2 * leaves_, 0);
    for (std::size_t index = 0; index < numbers.size(); ++index) {
      minimum_[leaves_ + index] = numbers[index];
    }
    for (std::size_t node = leaves_; --node > 0;) update(node);
  }

  // Adds to the numbers from `begin` to before `end`.
  void add(std::size_t begin, std::size_t end, std::int64_t change) {
    add_in(1, 0, leaves_, {begin, end}, change);
  }

  // The first index from `begin` to before `end` whose number is at most `limit`; else `end`.
  std::size_t first_at_most(std::int64_t limit, std::size_t begin, std::size_t end) const {
    return first_in(1, 0, leaves_, {begin, end}, limit);
  }

 private:
  struct Range {
    std::size_t begin;
    std::size_t end;
  };

  void update(std::size_t node) {
    minimum_[node] = added_[node] + std::min(minimum_[2 * node], minimum_[2 * node + 1]);
  }

  void add_in(std::size_t node, std::size_t first, std::size_t count, Range range,
              std::int64_t change) {
    if (range.end <= first || range.begin >= first + count) return;
    if (range.begin <= first && range.end >= first + count) {
      minimum_[node] += change;
      added_[node] += change;
      return;
    }
    const std::size_t half = count / 2;
    add_in(2 * node, first, half, range, change);
    add_in(2 * node + 1, first + half, half, range, change);
    update(node);
  }

  std::size_t first_in(std::size_t node, std::size_t first, std::size_t count, Range range,
                       std::int64_t limit) const {
    if (range.end <= first || range.begin >= first + count || minimum_[node] > limit) {
      return range.end;
    }
    if (count == 1) return first;
    const std::int64_t rest = limit - added_[node];
    const std::size_t half = count / 2;
    const std::size_t left = first_in(2 * node, first, half, range, rest);
    if (left != range.end) return left;
    return first_in(2 * node + 1, first + half, half, range, rest);
  }

  std::size_t leaves_ = 1;
  std::vector<std::int64_t> minimum_;  // by node, without what was added to the nodes above
  std::vector<std::int64_t> added_;
};

}  // namespace falafel::checkers::monitors
