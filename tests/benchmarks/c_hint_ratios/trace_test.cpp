// Hit ratios: those of LRU are the ones of a plain list, and those of the other systems are in the
// order that follows from what they know.
#include "tools/benchmarks/c_hint_ratios/trace.h"

#include <gtest/gtest.h>

#include <list>
#include <map>
#include <string>

#include "fabric/random.h"
#include "tools/benchmarks/store/zipfian.h"

namespace falafel::c_hint_ratios {
namespace {

constexpr std::uint64_t items = 256;

Trace small_trace(std::uint64_t sets_per_hundred) {
  return {.pairs = 5'000,
          .operations = 30'000,
          .sets_per_hundred = sets_per_hundred,
          .stores_all_first = false,
          .popularity = Popularity::by_number};
}

std::map<std::string, Ratios> run_all(const Trace& trace) {
  std::map<std::string, Ratios> ratios;
  for (const System& system : systems(items, 10'000)) {
    ratios[system.name] = run(system.options, trace);
  }
  return ratios;
}

double ratio_of_plain_lru(const Trace& trace) {
  const store_benchmark::Zipfian popularity(trace.pairs);
  fabric::RandomGenerator random(trace.seed);
  std::list<std::uint64_t> cached;
  std::uint64_t hits = 0;
  for (std::uint64_t operation = 0; operation < trace.operations; ++operation) {
    random.below(trace.clients);
    random.below(100);
    const std::uint64_t pair = popularity.next(random);
    const std::size_t before = cached.size();
    cached.remove(pair);
    hits += before - cached.size();
    cached.push_back(pair);
    if (cached.size() > items) cached.pop_front();
  }
  return static_cast<double>(hits) / static_cast<double>(trace.operations);
}

TEST(Ratios, OfLruAreThoseOfAList) {
  const Trace trace = small_trace(0);
  EXPECT_DOUBLE_EQ(run_all(trace).at("LRU").hits, ratio_of_plain_lru(trace));
}

TEST(Ratios, AreInTheOrderOfWhatTheSystemsKnow) {
  auto ratios = run_all(small_trace(5));
  EXPECT_GT(ratios["MQ"].hits, ratios["LRU"].hits);
  EXPECT_GT(ratios["C-Hint"].hits, ratios["Original"].hits);
  EXPECT_EQ(ratios["MQ"].pointer_hits, 0);
  EXPECT_EQ(ratios["LRU"].pointer_hits, 0);
  EXPECT_GT(ratios["term of 128 s"].pointer_hits, ratios["term of 8 s"].pointer_hits);
  for (const auto& [name, of_system] : ratios) {
    EXPECT_GE(of_system.hits, of_system.pointer_hits) << name;
  }
}

// Pointers of the system without C-Hint never expire, so nothing that is cached gives way: the
// pairs that were stored first stay, whatever is popular.
TEST(Ratios, WithoutExpiryAreTheShareOfThePairsThatWereStoredFirst) {
  Trace trace = small_trace(5);
  trace.stores_all_first = true;
  const double share_of_first =
      store_benchmark::zeta(0, items) / store_benchmark::zeta(0, trace.pairs);
  EXPECT_NEAR(run_all(trace).at("Original").hits, share_of_first, 0.02);
  trace.popularity = Popularity::scattered;
  EXPECT_LT(run_all(trace).at("Original").hits, share_of_first / 2);
}

}  // namespace
}  // namespace falafel::c_hint_ratios
