// Asks strategies for choices without a simulation; shared by the tests of strategies.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

#include "fabric/random.h"
#include "fabric/sim/strategies/recording_strategy.h"

namespace falafel::sim {

inline std::vector<ActorId> actors_up_to(ActorId count) {
  std::vector<ActorId> actors(count);
  std::iota(actors.begin(), actors.end(), ActorId{0});
  return actors;
}

// Returns the actor that the strategy selects.
inline ActorId scheduled(Strategy& strategy, const std::vector<ActorId>& actors) {
  const ChoicePoint point{
      .kind = ChoiceKind::schedule, .bound = actors.size(), .step = 0, .trace_hash = 0};
  return actors.at(strategy.schedule(point, actors));
}

// A program whose questions depend on earlier answers, like those of a simulation.
class Questioner {
 public:
  explicit Questioner(std::uint64_t seed) : hash_(seed) {}

  void ask(Strategy& strategy, std::size_t count) {
    for (std::size_t question = 0; question < count; ++question) ask_once(strategy);
  }
  std::uint64_t hash() const { return hash_; }

 private:
  void ask_once(Strategy& strategy) {
    const auto kind = static_cast<ChoiceKind>(hash_ % choice_kind_count);
    const bool is_schedule = kind == ChoiceKind::schedule;
    const auto actors = actors_up_to(static_cast<ActorId>(2 + hash_ / 64 % 5));
    const std::uint64_t bound = is_schedule ? actors.size() : hash_ / 64 % 9;  // may be 0
    const ChoicePoint asked{.kind = kind, .bound = bound, .step = step_, .trace_hash = hash_};
    const std::uint64_t answer =
        is_schedule ? strategy.schedule(asked, actors) : strategy.choose(asked);
    if (bound != 0) {
      EXPECT_LT(answer, bound);
    }
    std::uint64_t state = hash_ ^ answer;
    hash_ = fabric::splitmix64(state);
    ++step_;
  }

  std::uint64_t hash_;
  std::uint64_t step_ = 0;
};

// Records the strategy's choices for the program with that number.
inline std::vector<Choice> record(Strategy& strategy, std::uint64_t program, std::size_t count,
                                  std::uint64_t* hash = nullptr) {
  RecordingStrategy recording(strategy);
  Questioner questioner(program);
  questioner.ask(recording, count);
  if (hash != nullptr) *hash = questioner.hash();
  return recording.choices();
}

}  // namespace falafel::sim
