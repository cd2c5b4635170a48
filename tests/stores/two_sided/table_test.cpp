// The table between workers that lose the processor at any point.
#include "stores/two_sided/table.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "fabric/fiber_stack.h"
#include "fabric/sim/simulation.h"
#include "fabric/sim/strategies/make_strategy.h"
#include "tests/stores/two_sided/bytes.h"

namespace falafel::two_sided {
namespace {

using two_sided_test::bytes_of;
using two_sided_test::text_of;
using Body = std::function<void(Table&)>;

// Runs bodies at once, each on a fiber, and then `judge`, with many schedules.
void run(const Options& options, const std::vector<Body>& bodies, const Body& judge) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    const sim::SimulationOptions simulation_options;
    fabric::FiberStackPool stacks;
    const auto strategy = sim::make_strategy(simulation_options, seed);
    sim::Simulation simulation(simulation_options, *strategy, stacks);
    simulation.add_host({.name = "host"}, [&](fabric::Host& host) {
      Table table(host, options);
      std::vector<fabric::FiberId> fibers;
      fibers.reserve(bodies.size());
      for (const Body& body : bodies) fibers.push_back(host.spawn({}, [&] { body(table); }));
      for (const fabric::FiberId fiber : fibers) host.join(fiber);
      judge(table);
      EXPECT_EQ(table.inspect().locks_held, 0U);
    });
    ASSERT_EQ(simulation.run().outcome, sim::Outcome::completed) << "seed " << seed;
  }
}

Options one_bucket() {
  Options options;
  options.buckets = 1;
  return options;
}

std::string value_of(Table& table, const std::string& key) {
  const auto value = table.get(bytes_of(key));
  return value ? text_of(*value) : "absent";
}

TEST(Table, StoresReadsAndRemoves) {
  run(one_bucket(), {}, [](Table& table) {
    EXPECT_EQ(value_of(table, "a"), "absent");
    EXPECT_TRUE(table.set(bytes_of("a"), bytes_of("1")));
    EXPECT_TRUE(table.set(bytes_of("b"), bytes_of("a longer value")));
    EXPECT_EQ(value_of(table, "a"), "1");
    EXPECT_TRUE(table.set(bytes_of("b"), {}));
    EXPECT_EQ(value_of(table, "b"), "");
    EXPECT_TRUE(table.remove(bytes_of("a")));
    EXPECT_FALSE(table.remove(bytes_of("a")));
    EXPECT_EQ(table.pairs(), 1U);
    table.clear();
    EXPECT_EQ(value_of(table, "b"), "absent");
    EXPECT_EQ(table.pairs(), 0U);
  });
}

TEST(Table, InsertsAtTheHead) {
  run(one_bucket(), {}, [](Table& table) {
    table.set(bytes_of("a"), {});
    table.set(bytes_of("b"), {});
    const std::vector<Bytes> keys{bytes_of("b"), bytes_of("a")};
    EXPECT_EQ(table.inspect().keys.at(0), keys);
  });
}

TEST(Table, HasAtMostSoManyPairs) {
  Options options = one_bucket();
  options.most_pairs = 1;
  run(options, {}, [](Table& table) {
    EXPECT_TRUE(table.set(bytes_of("a"), bytes_of("1")));
    EXPECT_FALSE(table.set(bytes_of("b"), bytes_of("1")));
    EXPECT_TRUE(table.set(bytes_of("a"), bytes_of("2")));
    EXPECT_TRUE(table.remove(bytes_of("a")));
    EXPECT_TRUE(table.set(bytes_of("b"), bytes_of("1")));
  });
}

TEST(Table, HoldsAKeyOnceIfTwoWorkersInsertIt) {
  const Body insert = [](Table& table) { table.set(bytes_of("a"), bytes_of("1")); };
  run(one_bucket(), {insert, insert}, [](Table& table) { EXPECT_EQ(table.pairs(), 1U); });
}

TEST(Table, ReadsNoValueThatIsBeingChanged) {
  const std::string one(32, '1');
  const std::string two(32, '2');
  const Body write = [&](Table& table) {
    table.set(bytes_of("a"), bytes_of(one));
    table.set(bytes_of("a"), bytes_of(two));
  };
  const Body read = [&](Table& table) {
    const std::string value = value_of(table, "a");
    EXPECT_TRUE(value == "absent" || value == one || value == two) << value;
  };
  run(one_bucket(), {write, read, read}, [](Table&) {});
}

TEST(Table, FreesNoPairThatIsInUse) {
  const Body prepare_and_read = [](Table& table) {
    table.set(bytes_of("a"), bytes_of("aaaaaaaa"));
    const std::string value = value_of(table, "a");
    EXPECT_TRUE(value == "aaaaaaaa" || value == "absent") << value;
  };
  const Body replace = [](Table& table) {
    table.remove(bytes_of("a"));
    table.set(bytes_of("b"), bytes_of("bbbbbbbb"));
  };
  run(one_bucket(), {prepare_and_read, replace},
      [](Table& table) { EXPECT_EQ(value_of(table, "b"), "bbbbbbbb"); });
}

TEST(BucketNumber, DependsOnKeyAndSeed) {
  constexpr std::uint64_t buckets = 1U << 30;
  EXPECT_LT(bucket_number(bytes_of("a"), 1, buckets), buckets);
  EXPECT_NE(bucket_number(bytes_of("a"), 1, buckets), bucket_number(bytes_of("b"), 1, buckets));
  EXPECT_NE(bucket_number(bytes_of("a"), 1, buckets), bucket_number(bytes_of("a"), 2, buckets));
}

}  // namespace
}  // namespace falafel::two_sided
