// Tests which keys make room for a new one. The probes per lookup are those of figure 6 and of
// section 5.4 of the paper, and of simulations of the same table.
#include "stores/pilaf/displacement.h"

#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <optional>
#include <vector>

#include "fabric/random.h"

namespace falafel::pilaf {
namespace {

using Key = std::uint64_t;

// A table that holds keys alone.
class Table {
 public:
  Table(std::uint64_t entries, std::uint32_t ways, std::uint32_t max_kicks = 500)
      : ways_(ways), max_kicks_(max_kicks), slots_(entries) {}

  std::optional<DisplacementChain> plan(Key key) {
    return plan_insertion(
        slots_of_key(key),
        {.is_in_use = [this](std::uint64_t slot) { return slots_[slot].has_value(); },
         .slots_of_resident = [this](std::uint64_t slot) { return slots_of_key(*slots_[slot]); }},
        max_kicks_, [this](std::uint64_t bound) { return random_.below(bound); });
  }
  bool insert(Key key) {
    const auto chain = plan(key);
    if (!chain) return false;
    for (std::size_t index = chain->size() - 1; index > 0; --index) {
      slots_[(*chain)[index]] = slots_[(*chain)[index - 1]];
    }
    slots_[chain->front()] = key;
    ++keys_;
    return true;
  }
  ProbeSequence slots_of_key(Key key) const {
    return slots_of(std::as_bytes(std::span(&key, 1)), 17, ways_, slots_.size());
  }
  // How many slots a lookup of the key visits.
  std::uint64_t probes(Key key) const {
    const ProbeSequence slots = slots_of_key(key);
    std::uint64_t index = 0;
    while (slots_[slots[index]] != key) ++index;
    return index + 1;
  }
  void fill(double load) {
    for (Key key = 0; static_cast<double>(keys_) < load * static_cast<double>(slots_.size());
         ++key) {
      ASSERT_TRUE(insert(key)) << "at a load of " << keys_ << " of " << slots_.size();
    }
  }
  double mean_probes() const {
    std::uint64_t sum = 0;
    for (Key key = 0; key < keys_; ++key) sum += probes(key);
    return static_cast<double>(sum) / static_cast<double>(keys_);
  }
  std::uint64_t most_probes() const {
    std::uint64_t most = 0;
    for (Key key = 0; key < keys_; ++key) most = std::max(most, probes(key));
    return most;
  }

 private:
  std::uint32_t ways_;
  std::uint32_t max_kicks_;
  std::vector<std::optional<Key>> slots_;
  std::uint64_t keys_ = 0;
  fabric::RandomGenerator random_{5};
};

constexpr std::uint64_t large = 1U << 16U;

TEST(Displacement, NeedsTheProbesOfTheSource) {
  for (const auto& [load, probes] :
       std::map<double, double>{{0.40, 1.26}, {0.65, 1.51}, {0.75, 1.64}}) {
    Table table(large, 3);
    table.fill(load);
    EXPECT_NEAR(table.mean_probes(), probes, 0.03) << "at a load of " << load;
    EXPECT_LE(table.most_probes(), 3U);
  }
}

TEST(Displacement, LinearProbingNeedsMore) {
  Table table(large, 1);
  table.fill(0.75);
  EXPECT_NEAR(table.mean_probes(), 2.5, 0.1);  // figure 6: 2.5, at most 213
  EXPECT_GT(table.most_probes(), 50U);
}

TEST(Displacement, FillsMostOfTheTable) {
  Table table(large, 3);
  table.fill(0.88);  // three ways find room up to a load of 0.91 (Dietzfelbinger et al. 2010)
}

TEST(Displacement, ReportsThatThereIsNoRoom) {
  Table table(3, 3);
  Key key = 0;
  while (table.insert(key)) ++key;
  EXPECT_LE(key, 3U);
  EXPECT_GT(key, 0U);
}

TEST(Displacement, KeepsToTheLimitOfKicks) {
  Table table(large, 3, 2);
  std::size_t longest = 0;
  bool was_refused = false;
  for (Key key = 0; !was_refused; ++key) {
    const auto chain = table.plan(key);
    was_refused = !chain;
    if (chain) longest = std::max(longest, chain->size());
    table.insert(key);
  }
  EXPECT_EQ(longest, 3U);  // two keys move, and the new one
}

TEST(ProbeSequence, VisitsASlotOnce) {
  const ProbeSequence slots = ProbeSequence::cuckoo(std::vector<std::uint64_t>{4, 4, 1});
  ASSERT_EQ(slots.size(), 2U);
  EXPECT_EQ(slots[0], 4U);
  EXPECT_EQ(slots[1], 1U);
  EXPECT_TRUE(slots.contains(1));
  EXPECT_FALSE(slots.contains(2));
}

TEST(ProbeSequence, WrapsAroundInLinearProbing) {
  const ProbeSequence slots = ProbeSequence::linear(3, 4);
  ASSERT_EQ(slots.size(), 4U);
  EXPECT_EQ(slots[0], 3U);
  EXPECT_EQ(slots[3], 2U);
}

}  // namespace
}  // namespace falafel::pilaf
