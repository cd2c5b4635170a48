#include "fabric/sim/strategies/replay_strategy.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string_view>
#include <vector>

#include "fabric/sim/strategies/make_strategy.h"
#include "fabric/sim/strategies/random_strategy.h"
#include "fabric/sim/strategies/recording_strategy.h"
#include "tests/sim/questioner.h"

namespace falafel::sim {
namespace {

RC_GTEST_PROP(ReplayStrategy, RepeatsWhatWasRecorded,
              (std::uint64_t seed, std::uint64_t program, bool is_pct)) {
  SimulationOptions options;
  options.strategy = is_pct ? StrategyKind::pct : StrategyKind::random;
  const auto strategy = make_strategy(options, seed);
  std::uint64_t hash = 0;
  const std::vector<Choice> choices = record(*strategy, program, 200, &hash);

  ReplayStrategy replay(choices);
  std::uint64_t replayed_hash = 0;
  RC_ASSERT(record(replay, program, 200, &replayed_hash) == choices);
  RC_ASSERT(replayed_hash == hash);
  RC_ASSERT(replay.divergence() == nullptr);
}

TEST(RecordingStrategy, KeepsTheQuestionAndTheLowBitsOfTheTrace) {
  RandomStrategy random(1);
  RecordingStrategy recording(random);
  const std::uint64_t value = recording.choose(
      {.kind = ChoiceKind::loss, .bound = 6, .step = 3, .trace_hash = 0x123456789abcdef0});
  EXPECT_EQ(recording.choices(),
            (std::vector<Choice>{{ChoiceKind::loss, 6, value, std::uint16_t{0xdef0}}}));
}

class Diverging : public testing::Test {
 protected:
  // Answers the first of two recorded choices, then asks the second question.
  void ask_second(ChoiceKind kind, std::uint64_t bound, std::uint64_t hash) {
    EXPECT_EQ(replay_.choose(asked(ChoiceKind::loss, 4, 41, 7)), 3U);
    EXPECT_EQ(replay_.divergence(), nullptr);
    answer_ = replay_.choose(asked(kind, bound, 42, hash));
  }
  static ChoicePoint asked(ChoiceKind kind, std::uint64_t bound, std::uint64_t step,
                           std::uint64_t hash) {
    return {.kind = kind, .bound = bound, .step = step, .trace_hash = hash};
  }
  void expect_divergence(std::string_view explanation) {
    ASSERT_TRUE(replay_.first_divergence());
    EXPECT_EQ(replay_.first_divergence()->step, 42U);
    EXPECT_EQ(replay_.first_divergence()->choice_index, 1U);
    ASSERT_NE(replay_.divergence(), nullptr);
    EXPECT_NE(replay_.divergence()->find("step 42, choice 1: "), std::string::npos);
    EXPECT_NE(replay_.divergence()->find(explanation), std::string::npos) << *replay_.divergence();
    EXPECT_EQ(answer_, 0U);
    // From here on, the strategy ignores even choices that would match.
    EXPECT_EQ(replay_.choose(asked(ChoiceKind::packet, 9, 43, 8)), 0U);
    EXPECT_EQ(replay_.first_divergence()->step, 42U);
  }

  ReplayStrategy replay_{{{ChoiceKind::loss, 4, 3, 7}, {ChoiceKind::packet, 9, 5, 8}}};
  std::uint64_t answer_ = 0;
};

TEST_F(Diverging, NoticesAnotherKind) {
  ask_second(ChoiceKind::loss, 9, 8);
  expect_divergence("asks for a loss below 9, recorded was a packet below 9");
}

TEST_F(Diverging, NoticesAnotherBound) {
  ask_second(ChoiceKind::packet, 0, 8);
  expect_divergence("asks for a packet of any 64 bits, recorded was a packet below 9");
}

TEST_F(Diverging, NoticesAnotherTrace) {
  ask_second(ChoiceKind::packet, 9, 9);
  expect_divergence("the trace has checkpoint 9, recorded was 8");
}

TEST_F(Diverging, NoticesTheEnd) {
  replay_ = ReplayStrategy({{ChoiceKind::loss, 4, 3, 7}});
  ask_second(ChoiceKind::packet, 9, 8);
  expect_divergence("asks for a packet below 9, but the recording ends here");
}

TEST_F(Diverging, NoticesAValueThatIsNotBelowItsBound) {
  replay_ = ReplayStrategy({{ChoiceKind::loss, 4, 3, 7}, {ChoiceKind::packet, 9, 9, 8}});
  ask_second(ChoiceKind::packet, 9, 8);
  expect_divergence("value 9 of a packet below 9 is not below its bound");
}

TEST(ReplayStrategy, NoticesAnotherNumberOfActors) {
  ReplayStrategy replay({{ChoiceKind::schedule, 3, 2, 0}});
  EXPECT_EQ(scheduled(replay, {5, 6}), 5U);
  EXPECT_NE(replay.divergence(), nullptr);
}

TEST(RecordingStrategy, PassesADivergenceOn) {
  ReplayStrategy replay({});
  RecordingStrategy recording(replay);
  EXPECT_EQ(recording.divergence(), nullptr);
  recording.choose({.kind = ChoiceKind::loss, .bound = 2, .step = 0, .trace_hash = 0});
  EXPECT_EQ(recording.divergence(), replay.divergence());
  EXPECT_NE(recording.divergence(), nullptr);
}

}  // namespace
}  // namespace falafel::sim
