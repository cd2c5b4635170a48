// The allocator against a plain model: a row of blocks of the smallest size.
#include "stores/buddy_allocator.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <bit>
#include <map>
#include <vector>

namespace falafel::stores {
namespace {

constexpr std::uint64_t unit = 64;

class Model {
 public:
  explicit Model(std::uint64_t units) : used_(units) {}

  // Returns whether there is a free range of that many units at a multiple of its size.
  bool has_room_for(std::uint64_t units) const {
    for (std::uint64_t begin = 0; begin + units <= used_.size(); begin += units) {
      if (is_free(begin, units)) return true;
    }
    return false;
  }
  bool is_free(std::uint64_t begin, std::uint64_t units) const {
    for (std::uint64_t at = begin; at < begin + units; ++at) {
      if (used_[at]) return false;
    }
    return true;
  }
  void mark(std::uint64_t begin, std::uint64_t units, bool used) {
    for (std::uint64_t at = begin; at < begin + units; ++at) used_[at] = used;
  }
  void grow() { used_.resize(2 * used_.size()); }
  std::uint64_t size() const { return used_.size(); }

 private:
  std::vector<bool> used_;
};

class Comparison {
 public:
  explicit Comparison(std::uint64_t units) : model_(units), allocator_(units * unit, unit) {}

  void allocate(std::uint64_t bytes) {
    const std::uint64_t units = std::bit_ceil(bytes == 0 ? 1 : (bytes + unit - 1) / unit);
    const bool fits = units <= model_.size() && model_.has_room_for(units);
    const auto offset = allocator_.allocate(bytes);
    RC_ASSERT(offset.has_value() == fits);
    if (!offset) return;
    RC_ASSERT(*offset % (units * unit) == 0U);
    RC_ASSERT(model_.is_free(*offset / unit, units));
    model_.mark(*offset / unit, units, true);
    allocated_[*offset] = units * unit;
  }
  void free(std::size_t index) {
    if (allocated_.empty()) return;
    const auto found =
        std::next(allocated_.begin(), static_cast<std::ptrdiff_t>(index % allocated_.size()));
    allocator_.free(found->first);
    model_.mark(found->first / unit, found->second / unit, false);
    allocated_.erase(found);
  }
  void grow() {
    allocator_.grow();
    model_.grow();
  }
  void compare() const {
    std::uint64_t bytes = allocator_.free_bytes();
    for (const auto& [offset, size] : allocated_) bytes += size;
    RC_ASSERT(bytes == model_.size() * unit);
    RC_ASSERT(allocator_.total_bytes() == bytes);
    RC_ASSERT(allocator_.allocated() == allocated_);
  }
  // When all is free, it is one block again.
  void free_all() {
    while (!allocated_.empty()) free(0);
    RC_ASSERT(allocator_.allocate(model_.size() * unit) == std::optional<std::uint64_t>(0));
  }

 private:
  Model model_;
  BuddyAllocator allocator_;
  std::map<std::uint64_t, std::uint64_t> allocated_;
};

RC_GTEST_PROP(BuddyAllocator, AgreesWithTheModel, ()) {
  Comparison comparison(*rc::gen::element<std::uint64_t>(1, 2, 8, 32));
  const auto steps = *rc::gen::inRange(0, 80);
  for (int step = 0; step < steps; ++step) {
    const auto kind = *rc::gen::weightedElement<int>({{8, 0}, {6, 1}, {1, 2}});
    if (kind == 0) comparison.allocate(*rc::gen::inRange<std::uint64_t>(0, 700));
    if (kind == 1) comparison.free(*rc::gen::inRange<std::size_t>(0, 100));
    if (kind == 2 && step % 5 == 0) comparison.grow();
    comparison.compare();
  }
  comparison.free_all();
}

TEST(BuddyAllocator, TakesTheLowestOfTheSmallestBlocks) {
  BuddyAllocator allocator(8 * unit, unit);
  EXPECT_EQ(allocator.allocate(2 * unit), 0U);
  EXPECT_EQ(allocator.allocate(1), 2 * unit);
  EXPECT_EQ(allocator.allocate(4 * unit), 4 * unit);
  EXPECT_EQ(allocator.allocate(2 * unit), std::nullopt);
  EXPECT_EQ(allocator.allocate(unit), 3 * unit);
  EXPECT_EQ(allocator.free_bytes(), 0U);
}

TEST(BuddyAllocator, KnowsItsLargestFreeBlock) {
  BuddyAllocator allocator(8 * unit, unit);
  EXPECT_EQ(allocator.largest_free_bytes(), 8 * unit);
  EXPECT_EQ(allocator.allocate(unit), 0U);
  EXPECT_EQ(allocator.largest_free_bytes(), 4 * unit);
  EXPECT_EQ(allocator.allocate(4 * unit), 4 * unit);
  EXPECT_EQ(allocator.allocate(2 * unit), 2 * unit);
  EXPECT_EQ(allocator.largest_free_bytes(), unit);
  EXPECT_EQ(allocator.allocate(unit), unit);
  EXPECT_EQ(allocator.largest_free_bytes(), 0U);
}

TEST(BuddyAllocator, GrowsWithItsUpperHalfFree) {
  BuddyAllocator allocator(2 * unit, unit);
  EXPECT_EQ(allocator.allocate(2 * unit), 0U);
  allocator.grow();
  EXPECT_EQ(allocator.allocate(2 * unit), 2 * unit);
  allocator.free(0);
  allocator.free(2 * unit);
  EXPECT_EQ(allocator.allocate(4 * unit), 0U);
}

}  // namespace
}  // namespace falafel::stores
