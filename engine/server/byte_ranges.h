// The memory that a collection will free, as ranges of the chunk.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace falafel::engine {

struct ByteRange {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

// Ranges are in ascending order and do not overlap.
class ByteRanges {
 public:
  explicit ByteRanges(std::vector<ByteRange> ranges) : ranges_(std::move(ranges)) {}

  const std::vector<ByteRange>& all() const { return ranges_; }
  bool contain(std::uint64_t offset) const {
    const auto next = std::ranges::upper_bound(ranges_, offset, {}, &ByteRange::begin);
    return next != ranges_.begin() && offset < std::prev(next)->end;
  }
  // The number, in all(), of the range that contains it.
  std::size_t index_of(std::uint64_t offset) const {
    const auto next = std::ranges::upper_bound(ranges_, offset, {}, &ByteRange::begin);
    return static_cast<std::size_t>(next - ranges_.begin()) - 1;
  }

 private:
  std::vector<ByteRange> ranges_;
};

}  // namespace falafel::engine
