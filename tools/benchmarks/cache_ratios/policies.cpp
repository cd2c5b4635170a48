#include "tools/benchmarks/cache_ratios/policies.h"

#include <algorithm>
#include <list>
#include <vector>

namespace falafel::cache_ratios {
namespace {

using Items = std::list<std::uint64_t>;

class LeastRecentlyUsed : public Policy {
 public:
  LeastRecentlyUsed(std::uint64_t items, std::uint64_t capacity)
      : capacity_(capacity), contained_(items), places_(items) {}

  bool contains(std::uint64_t item) const override { return contained_[item]; }
  void accessed(std::uint64_t item) override {
    items_.splice(items_.begin(), items_, places_[item]);
  }
  void insert(std::uint64_t item) override {
    if (items_.size() == capacity_) {
      contained_[items_.back()] = false;
      items_.pop_back();
    }
    items_.push_front(item);
    contained_[item] = true;
    places_[item] = items_.begin();
  }

 private:
  std::uint64_t capacity_;
  Items items_;  // the most recent one first
  std::vector<bool> contained_;
  std::vector<Items::iterator> places_;
};

class Clock : public Policy {
 public:
  Clock(std::uint64_t items, std::uint64_t capacity, std::uint32_t most_count)
      : capacity_(capacity), most_count_(most_count), contained_(items), counts_(items) {}

  bool contains(std::uint64_t item) const override { return contained_[item]; }
  void accessed(std::uint64_t item) override {
    counts_[item] = std::min(counts_[item] + 1, most_count_);
  }
  void insert(std::uint64_t item) override {
    contained_[item] = true;
    counts_[item] = 0;
    if (ring_.size() < capacity_) return ring_.push_back(item);
    while (counts_[ring_[hand_]] > 0) {
      --counts_[ring_[hand_]];
      advance();
    }
    contained_[ring_[hand_]] = false;
    ring_[hand_] = item;
    advance();
  }

 private:
  void advance() { hand_ = (hand_ + 1) % ring_.size(); }

  std::uint64_t capacity_;
  std::uint32_t most_count_;
  std::vector<std::uint64_t> ring_;
  std::size_t hand_ = 0;
  std::vector<bool> contained_;
  std::vector<std::uint32_t> counts_;
};

class WindowTinyLfu : public Policy {
 public:
  WindowTinyLfu(std::uint64_t items, std::uint64_t capacity)
      : window_capacity_(std::max<std::uint64_t>(1, capacity / 100)),
        main_capacity_(capacity - window_capacity_),
        protected_capacity_(main_capacity_ * 4 / 5),
        accesses_per_age_(10 * capacity),
        segments_(items, Segment::none),
        places_(items),
        counts_(items) {}

  bool contains(std::uint64_t item) const override { return segments_[item] != Segment::none; }

  void accessed(std::uint64_t item) override {
    count(item);
    switch (segments_[item]) {
      case Segment::none: return;
      case Segment::window: return move(item, window_, Segment::window);
      case Segment::probation:
      case Segment::protected_segment: break;
    }
    move(item, protected_, Segment::protected_segment);
    if (protected_.size() > protected_capacity_) {
      move(protected_.back(), probation_, Segment::probation);
    }
  }

  void insert(std::uint64_t item) override {
    count(item);
    window_.push_front(item);
    segments_[item] = Segment::window;
    places_[item] = window_.begin();
    if (window_.size() > window_capacity_) admit(window_.back());
  }

 private:
  enum class Segment : std::uint8_t { none, window, probation, protected_segment };

  Items& list_of(Segment segment) {
    return segment == Segment::window      ? window_
           : segment == Segment::probation ? probation_
                                           : protected_;
  }

  void move(std::uint64_t item, Items& to, Segment segment) {
    to.splice(to.begin(), list_of(segments_[item]), places_[item]);
    segments_[item] = segment;
  }

  void remove(std::uint64_t item) {
    list_of(segments_[item]).erase(places_[item]);
    segments_[item] = Segment::none;
  }

  void admit(std::uint64_t candidate) {
    if (probation_.size() + protected_.size() >= main_capacity_) {
      const std::uint64_t victim = probation_.empty() ? protected_.back() : probation_.back();
      if (counts_[candidate] <= counts_[victim]) return remove(candidate);
      remove(victim);
    }
    move(candidate, probation_, Segment::probation);
  }

  void count(std::uint64_t item) {
    constexpr std::uint32_t most_count = 15;
    counts_[item] = std::min(counts_[item] + 1, most_count);
    if (++accesses_ < accesses_per_age_) return;
    accesses_ /= 2;
    for (std::uint32_t& aged : counts_) aged /= 2;
  }

  std::uint64_t window_capacity_;
  std::uint64_t main_capacity_;
  std::uint64_t protected_capacity_;
  std::uint64_t accesses_per_age_;
  std::uint64_t accesses_ = 0;
  Items window_;
  Items probation_;
  Items protected_;
  std::vector<Segment> segments_;
  std::vector<Items::iterator> places_;
  std::vector<std::uint32_t> counts_;
};

}  // namespace

std::unique_ptr<Policy> least_recently_used(std::uint64_t items, std::uint64_t capacity) {
  return std::make_unique<LeastRecentlyUsed>(items, capacity);
}

std::unique_ptr<Policy> clock(std::uint64_t items, std::uint64_t capacity,
                              std::uint32_t most_count) {
  return std::make_unique<Clock>(items, capacity, most_count);
}

std::unique_ptr<Policy> window_tiny_lfu(std::uint64_t items, std::uint64_t capacity) {
  return std::make_unique<WindowTinyLfu>(items, capacity);
}

}  // namespace falafel::cache_ratios
