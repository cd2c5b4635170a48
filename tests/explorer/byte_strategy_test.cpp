// Strategies of the fuzzer. The same bytes always yield the same schedule, and a changed byte
// yields another one.
#include "explorer/byte_strategy.h"

#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "explorer/scripted_strategy.h"
#include "tools/scenarios/store/run.h"

namespace falafel::store_scenario {
namespace {

using Bytes = std::vector<std::uint8_t>;

std::uint64_t ask(sim::Strategy& strategy, std::uint64_t bound) {
  return strategy.choose(
      {.kind = sim::ChoiceKind::request, .bound = bound, .step = 0, .trace_hash = 0});
}

TEST(ByteStrategy, TakesAsManyBytesAsAnAnswerNeeds) {
  const Bytes bytes{7, 1, 2, 0xff, 3};
  explorer::ByteStrategy strategy(bytes);
  EXPECT_EQ(ask(strategy, 256), 7U);
  EXPECT_EQ(ask(strategy, 65'536), 0x0102U);
  EXPECT_EQ(ask(strategy, 2), 1U);
  EXPECT_EQ(ask(strategy, 10), 3U);
}

// Programs use 64-bit numbers as unique identifiers: when two runs of a server had the same number,
// values appeared to be lost (docs/findings/repeated-incarnation.md).
TEST(ByteStrategy, NeverRepeats64BitsWhateverItsBytes) {
  const Bytes bytes(100, 0);
  explorer::ByteStrategy strategy(bytes);
  std::set<std::uint64_t> numbers;
  for (int count = 0; count < 100; ++count) numbers.insert(ask(strategy, 0));
  EXPECT_EQ(numbers.size(), 100U);
  EXPECT_EQ(ask(strategy, 256), 0U) << "they use no bytes";
}

TEST(ScriptedStrategy, NeverRepeats64BitsWhateverItsScript) {
  explorer::ScriptedStrategy strategy({0, 0, 7, 7, 5});
  std::set<std::uint64_t> numbers;
  for (int count = 0; count < 4; ++count) numbers.insert(ask(strategy, 0));
  EXPECT_EQ(ask(strategy, 10), 5U) << "each takes the place of an answer";
  for (int count = 0; count < 96; ++count) numbers.insert(ask(strategy, 0));
  EXPECT_EQ(numbers.size(), 100U);
}

TEST(ByteStrategy, GoesOnBehindTheEndBelowTheBound) {
  explorer::ByteStrategy strategy(Bytes{});
  std::uint64_t different = 0;
  for (int answer = 0; answer < 1'000; ++answer) {
    const std::uint64_t value = ask(strategy, 10);
    ASSERT_LT(value, 10U);
    different |= std::uint64_t{1} << value;
  }
  EXPECT_EQ(different, 0x3ffU);
}

std::uint64_t trace_hash_of(const Bytes& bytes) {
  Runner runner;
  explorer::ByteStrategy strategy(bytes);
  return runner.run(draw_scenario({}, 1), strategy).result.trace_hash;
}

TEST(ByteStrategy, IsAScheduleOfItsBytes) {
  const Bytes bytes{200, 100, 50, 25, 12, 6, 3, 1};
  EXPECT_EQ(trace_hash_of(bytes), trace_hash_of(bytes));
  Bytes other = bytes;
  other.back() = 2;
  EXPECT_NE(trace_hash_of(other), trace_hash_of(bytes));
}

}  // namespace
}  // namespace falafel::store_scenario
