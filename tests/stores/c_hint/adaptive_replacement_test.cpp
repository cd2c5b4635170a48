// The client's cache against the algorithm as its paper states it, over plain vectors.
#include "stores/c_hint/adaptive_replacement.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace falafel::c_hint {
namespace {

using CachedItem = AdaptiveReplacement::Item;

using Items = std::vector<CachedItem>;

// Megiddo and Modha, figure 4. The most recent item is the last one.
class PublishedCache {
 public:
  explicit PublishedCache(std::size_t capacity) : capacity_(capacity) {}

  void access(CachedItem item) {
    if (take(t1_, item) || take(t2_, item)) {
      t2_.push_back(item);
    } else if (has(b1_, item)) {
      const std::size_t step = b1_.size() >= b2_.size() ? 1 : b2_.size() / b1_.size();
      target_ = std::min(target_ + step, capacity_);
      replace(false);
      take(b1_, item);
      t2_.push_back(item);
    } else if (has(b2_, item)) {
      const std::size_t step = b2_.size() >= b1_.size() ? 1 : b1_.size() / b2_.size();
      target_ = target_ > step ? target_ - step : 0;
      replace(true);
      take(b2_, item);
      t2_.push_back(item);
    } else {
      make_room();
      t1_.push_back(item);
    }
  }
  bool is_cached(CachedItem item) const { return has(t1_, item) || has(t2_, item); }
  const Items& used_once() const { return t1_; }
  const Items& used_often() const { return t2_; }
  std::size_t target() const { return target_; }

 private:
  static bool has(const Items& items, CachedItem item) {
    return std::ranges::count(items, item) > 0;
  }
  static bool take(Items& items, CachedItem item) { return std::erase(items, item) > 0; }
  static CachedItem take_first(Items& items) {
    const CachedItem first = items.front();
    items.erase(items.begin());
    return first;
  }
  void replace(bool is_in_b2) {
    if (!t1_.empty() && (t1_.size() > target_ || (is_in_b2 && t1_.size() == target_))) {
      b1_.push_back(take_first(t1_));
    } else {
      b2_.push_back(take_first(t2_));
    }
  }
  void make_room() {
    if (t1_.size() + b1_.size() == capacity_) {
      if (t1_.size() == capacity_) {
        take_first(t1_);
      } else {
        take_first(b1_);
        replace(false);
      }
      return;
    }
    const std::size_t all = t1_.size() + b1_.size() + t2_.size() + b2_.size();
    if (all < capacity_) return;
    if (all == 2 * capacity_) take_first(b2_);
    replace(false);
  }

  std::size_t capacity_;
  std::size_t target_ = 0;
  Items t1_, t2_, b1_, b2_;
};

Items items_of(const std::list<CachedItem>& list) { return {list.begin(), list.end()}; }

RC_GTEST_PROP(AdaptiveReplacement, AgreesWithTheModel, ()) {
  const auto capacity = *rc::gen::inRange<std::size_t>(1, 6);
  AdaptiveReplacement cache(capacity);
  PublishedCache model(capacity);
  const int steps = *rc::gen::inRange(1, 200);
  for (int step = 0; step < steps; ++step) {
    const CachedItem item = *rc::gen::inRange<CachedItem>(0, 3 * capacity);
    const auto victim = cache.access(item);
    model.access(item);
    RC_ASSERT(items_of(cache.used_once()) == model.used_once());
    RC_ASSERT(items_of(cache.used_often()) == model.used_often());
    RC_ASSERT(cache.target() == model.target());
    if (victim) RC_ASSERT(!cache.is_cached(*victim));
  }
}

// Every item that stops being cached is announced, so its owner can forget the pointer.
RC_GTEST_PROP(AdaptiveReplacement, AnnouncesWhatItDrops, ()) {
  AdaptiveReplacement cache(3);
  std::vector<bool> is_cached(10);
  const int steps = *rc::gen::inRange(1, 100);
  for (int step = 0; step < steps; ++step) {
    const CachedItem item = *rc::gen::inRange<CachedItem>(0, is_cached.size());
    if (*rc::gen::inRange(0, 5) == 0) {
      cache.erase(item);
      is_cached[item] = false;
    } else {
      if (const auto victim = cache.access(item)) is_cached[*victim] = false;
      is_cached[item] = true;
    }
    for (CachedItem any = 0; any < is_cached.size(); ++any) {
      RC_ASSERT(cache.is_cached(any) == is_cached[any]);
    }
    RC_ASSERT(cache.size() <= 3U);
  }
}

TEST(AdaptiveReplacement, ResistsAScan) {
  AdaptiveReplacement cache(4);
  for (int round = 0; round < 2; ++round) {
    cache.access(1);
    cache.access(2);
  }
  for (CachedItem scanned = 100; scanned < 200; ++scanned) cache.access(scanned);
  EXPECT_TRUE(cache.is_cached(1));
  EXPECT_TRUE(cache.is_cached(2));
}

}  // namespace
}  // namespace falafel::c_hint
