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
  options.safeguards = Safeguards::hardened();
  options.buckets = 1;
  return options;
}

std::string value_of(Table& table, const std::string& key) {
  const GetOutcome outcome = table.get(bytes_of(key));
  switch (outcome.answer) {
    case TableAnswer::done: return text_of(outcome.value);
    case TableAnswer::absent: return "absent";
    default: return "busy";
  }
}

TEST(Table, StoresReadsAndRemoves) {
  run(one_bucket(), {}, [](Table& table) {
    EXPECT_EQ(value_of(table, "a"), "absent");
    EXPECT_EQ(table.set(bytes_of("a"), bytes_of("1")), TableAnswer::done);
    EXPECT_EQ(table.set(bytes_of("b"), bytes_of("a longer value")), TableAnswer::done);
    EXPECT_EQ(value_of(table, "a"), "1");
    EXPECT_EQ(table.set(bytes_of("b"), {}), TableAnswer::done);
    EXPECT_EQ(value_of(table, "b"), "");
    EXPECT_EQ(table.remove(bytes_of("a")), TableAnswer::done);
    EXPECT_EQ(table.remove(bytes_of("a")), TableAnswer::absent);
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
    EXPECT_EQ(table.set(bytes_of("a"), bytes_of("1")), TableAnswer::done);
    EXPECT_EQ(table.set(bytes_of("b"), bytes_of("1")), TableAnswer::full);
    EXPECT_EQ(table.set(bytes_of("a"), bytes_of("2")), TableAnswer::done);
    EXPECT_EQ(table.remove(bytes_of("a")), TableAnswer::done);
    EXPECT_EQ(table.set(bytes_of("b"), bytes_of("1")), TableAnswer::done);
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

// The program compares as many bytes as the key has.
TEST(Table, OfTheProgramTakesALongerKeyForAKeyThatItBeginsWith) {
  Options options = one_bucket();
  options.safeguards.whole_keys = false;
  run(options, {}, [](Table& table) {
    table.set(bytes_of("key 12"), bytes_of("1"));
    EXPECT_EQ(value_of(table, "key 1"), "1");
    EXPECT_EQ(value_of(table, "key 2"), "absent");
    EXPECT_EQ(value_of(table, "key 123"), "absent");
  });
}

// A reader finds a pair without its value, or one that others use.
TEST(Table, OfTheProgramHasPairsThatAreBusyOrEmpty) {
  std::uint64_t busy = 0;
  std::uint64_t empty = 0;
  Options options = one_bucket();
  options.safeguards = Safeguards::published();
  const Body read = [&](Table& table) {
    const std::string value = value_of(table, "a");
    if (value == "busy") ++busy;
    if (value.empty()) ++empty;
  };
  const Body write = [](Table& table) {
    table.set(bytes_of("a"), bytes_of("a value of words"));
    table.set(bytes_of("a"), bytes_of("and another one"));
  };
  run(options, {write, read, read}, [](Table&) {});
  EXPECT_GT(busy, 0U);
  EXPECT_GT(empty, 0U);
}

// 33 * 5381 + 97 is the hash of "a".
TEST(BucketNumber, IsDjb2) {
  EXPECT_EQ(bucket_number({}, 1U << 30), 5'381U);
  EXPECT_EQ(bucket_number(bytes_of("a"), 1U << 30), 177'670U);
  EXPECT_EQ(bucket_number(bytes_of("ab"), 1U << 30), 5'863'208U);
  EXPECT_EQ(bucket_number(bytes_of("ab"), 1'024), 5'863'208U % 1'024);
}

}  // namespace
}  // namespace falafel::two_sided
