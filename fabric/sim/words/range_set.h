// A set of byte offsets, as ranges that neither overlap nor touch.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>

namespace falafel::sim {

class RangeSet {
 public:
  bool empty() const { return ranges_.empty(); }

  // Returns whether an offset of the range is in the set.
  bool intersects(std::uint64_t begin, std::uint64_t end) const {
    const auto after = ranges_.lower_bound(end);
    return begin < end && after != ranges_.begin() && std::prev(after)->second > begin;
  }
  void remove(std::uint64_t begin, std::uint64_t end) {
    auto range = ranges_.lower_bound(begin);
    if (range != ranges_.begin() && std::prev(range)->second > begin) --range;
    while (range != ranges_.end() && range->first < end) {
      const auto [first, last] = *range;
      range = ranges_.erase(range);
      if (first < begin) ranges_.emplace(first, begin);
      if (last > end) ranges_.emplace(end, last);
    }
  }
  void add(std::uint64_t begin, std::uint64_t end) {
    if (begin >= end) return;
    auto range = ranges_.lower_bound(begin);
    if (range != ranges_.begin() && std::prev(range)->second >= begin) --range;
    while (range != ranges_.end() && range->first <= end) {
      begin = std::min(begin, range->first);
      end = std::max(end, range->second);
      range = ranges_.erase(range);
    }
    ranges_.emplace(begin, end);
  }

 private:
  std::map<std::uint64_t, std::uint64_t> ranges_;  // first offset to the one after the last
};

}  // namespace falafel::sim
