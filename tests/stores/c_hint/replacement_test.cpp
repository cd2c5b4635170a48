// The server's replacement policies against simple models: vectors of items that are searched from
// the front, and counts that are recomputed.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "stores/c_hint/lru.h"
#include "stores/c_hint/multi_queue.h"
#include "stores/c_hint/options.h"
#include "stores/c_hint/popularity_queues.h"
#include "stores/c_hint/replacement_policies.h"

namespace falafel::c_hint {
namespace {

constexpr std::uint32_t queue_count = 3;
constexpr std::uint32_t probes = 1;
constexpr std::uint64_t life_time = 4;
constexpr std::size_t most_ghosts = 2;

std::uint32_t logarithm_of(std::uint64_t count) {
  std::uint32_t logarithm = 0;
  while (count >= 2 && logarithm + 1 < queue_count) {
    count /= 2;
    ++logarithm;
  }
  return logarithm;
}

// The base of all models: queues as vectors, the least recent item first.
class Model {
 public:
  virtual ~Model() = default;
  virtual void insert(Item item) = 0;
  virtual void hit(Item item, std::uint64_t accesses) = 0;
  virtual std::optional<Item> evict() = 0;
  virtual void erase(Item item) {
    for (auto& queue : queues_) std::erase(queue, item);
  }

  std::uint32_t queue_of(Item item) const {
    for (std::uint32_t queue = 0; queue < queue_count; ++queue) {
      if (std::ranges::count(queues_[queue], item) > 0) return queue;
    }
    return queue_count;
  }
  bool contains(Item item) const { return queue_of(item) < queue_count; }
  bool has_ended(Item item) const { return !leased_.contains(item); }
  void toggle_lease(Item item) {
    if (leased_.erase(item) == 0) leased_.insert(item);
  }

 protected:
  void put_last(Item item, std::uint32_t queue) {
    Model::erase(item);
    queues_[queue].push_back(item);
  }
  std::optional<Item> take_ended(std::uint32_t queue, std::size_t most) {
    for (std::size_t place = 0; place < std::min(most, queues_[queue].size()); ++place) {
      const Item item = queues_[queue][place];
      if (!has_ended(item)) continue;
      erase(item);
      return item;
    }
    return std::nullopt;
  }

  std::vector<std::vector<Item>> queues_{queue_count};
  std::map<Item, std::uint64_t> counts_;
  std::set<Item> leased_;
};

class LruModel final : public Model {
 public:
  void insert(Item item) override { put_last(item, 0); }
  void hit(Item item, std::uint64_t /*accesses*/) override { put_last(item, 0); }
  std::optional<Item> evict() override { return take_ended(0, probes + 1); }
};

class PopularityModel final : public Model {
 public:
  explicit PopularityModel(Aging aging) : aging_(aging) {}
  void insert(Item item) override {
    counts_[item] = 1;
    put_last(item, 0);
    age();
  }
  void hit(Item item, std::uint64_t accesses) override {
    put_last(item, std::max(queue_of(item), logarithm_of(counts_[item] += accesses)));
    age();
  }
  std::optional<Item> evict() override {
    for (std::uint32_t queue = 0; queue < queue_count; ++queue) {
      if (const auto victim = take_ended(queue, probes + 1)) return victim;
    }
    return std::nullopt;
  }

 private:
  void age() {
    for (std::uint32_t queue = 1; queue < queue_count; ++queue) {
      if (queues_[queue].empty() || !has_ended(queues_[queue].front())) continue;
      const Item item = queues_[queue].front();
      if (aging_ == Aging::halves_count && counts_[item] > 1) counts_[item] /= 2;
      put_last(item, queue - 1);
    }
  }
  Aging aging_;
};

class MultiQueueModel final : public Model {
 public:
  void insert(Item item) override {
    const auto ghost = std::ranges::find(ghosts_, item);
    counts_[item] = ghost == ghosts_.end() ? 1 : counts_[item] + 1;
    if (ghost != ghosts_.end()) ghosts_.erase(ghost);
    use(item);
  }
  void hit(Item item, std::uint64_t accesses) override {
    counts_[item] += accesses;
    use(item);
  }
  std::optional<Item> evict() override {
    for (std::uint32_t queue = 0; queue < queue_count; ++queue) {
      const auto victim = take_ended(queue, 1);
      if (!victim) continue;
      ghosts_.push_back(*victim);
      if (ghosts_.size() > most_ghosts) ghosts_.erase(ghosts_.begin());
      return victim;
    }
    return std::nullopt;
  }

 private:
  void use(Item item) {
    put(item, logarithm_of(counts_[item]));
    ++time_;
    for (std::uint32_t queue = 1; queue < queue_count; ++queue) {
      if (queues_[queue].empty() || expires_[queues_[queue].front()] >= time_) continue;
      put(queues_[queue].front(), queue - 1);
    }
  }
  void put(Item item, std::uint32_t queue) {
    put_last(item, queue);
    expires_[item] = time_ + life_time;
  }
  std::uint64_t time_ = 0;
  std::map<Item, std::uint64_t> expires_;
  std::vector<Item> ghosts_;
};

void compare(Replacement& policy, Model& model) {
  constexpr Item items = 8;
  const LeaseEnded has_ended = [&](Item item) { return model.has_ended(item); };
  const int steps = *rc::gen::inRange(1, 120);
  for (int step = 0; step < steps; ++step) {
    const auto item = *rc::gen::inRange<Item>(0, items);
    const int kind = *rc::gen::inRange(0, 10);
    if (kind < 6 && model.contains(item)) {
      const auto accesses = *rc::gen::inRange<std::uint64_t>(0, 4);
      policy.hit(item, accesses);
      policy.age(has_ended);
      model.hit(item, accesses);
    } else if (kind < 6) {
      policy.insert(item);
      policy.age(has_ended);
      model.insert(item);
    } else if (kind < 8) {
      model.toggle_lease(item);
    } else if (kind == 8) {
      RC_ASSERT(policy.evict(has_ended) == model.evict());
    } else {
      policy.erase(item);
      model.erase(item);
    }
    for (Item any = 0; any < items; ++any) {
      if (model.contains(any)) RC_ASSERT(policy.queue_of(any) == model.queue_of(any));
    }
  }
}

RC_GTEST_PROP(Lru, AgreesWithTheModel, ()) {
  Lru policy(probes);
  LruModel model;
  compare(policy, model);
}

RC_GTEST_PROP(PopularityQueues, AgreeWithTheModel, ()) {
  const Aging aging = *rc::gen::element(Aging::keeps_count, Aging::halves_count);
  PopularityQueues policy(queue_count, probes, aging);
  PopularityModel model(aging);
  compare(policy, model);
}

RC_GTEST_PROP(MultiQueue, AgreesWithTheModel, ()) {
  MultiQueue policy(queue_count, life_time, most_ghosts);
  MultiQueueModel model;
  compare(policy, model);
}

TEST(PopularityQueues, PromoteByTheLogarithmOfTheCount) {
  PopularityQueues policy(8, 3, Aging::keeps_count);
  policy.insert(1);
  for (int access = 2; access <= 1'000; ++access) policy.hit(1, 1);
  EXPECT_EQ(policy.queue_of(1), 7U);
  policy.insert(2);
  for (int access = 2; access <= 4; ++access) policy.hit(2, 1);
  EXPECT_EQ(policy.queue_of(2), 2U);
  policy.insert(3);
  policy.hit(3, 15);
  EXPECT_EQ(policy.queue_of(3), 4U);
}

TEST(PopularityQueues, EvictTheFirstEndedLeaseWithinTheProbes) {
  PopularityQueues policy(8, 3, Aging::keeps_count);
  for (Item item = 0; item < 6; ++item) policy.insert(item);
  EXPECT_EQ(policy.evict([](Item item) { return item >= 4; }), std::nullopt);
  EXPECT_EQ(policy.evict([](Item item) { return item >= 3; }), 3U);
}

TEST(Replacement, IsThatOfTheOptions) {
  Options options;
  EXPECT_NE(dynamic_cast<PopularityQueues*>(make_replacement(options).get()), nullptr);
  EXPECT_NE(dynamic_cast<PopularityQueues*>(make_replacement(static_terms(options, 8)).get()),
            nullptr);
  EXPECT_NE(dynamic_cast<Lru*>(make_replacement(approximate_lru(options)).get()), nullptr);
  EXPECT_NE(dynamic_cast<Lru*>(make_replacement(lru(options)).get()), nullptr);
  EXPECT_NE(dynamic_cast<MultiQueue*>(make_replacement(multi_queue(options)).get()), nullptr);
}

}  // namespace
}  // namespace falafel::c_hint
