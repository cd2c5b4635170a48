// Records all answers of another strategy, so that a ReplayStrategy can repeat them.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "fabric/sim/strategies/strategy.h"

namespace falafel::sim {

// A question and its answer.
struct Choice {
  ChoiceKind kind{};
  std::uint64_t bound = 0;
  std::uint64_t value = 0;
  std::uint16_t checkpoint = 0;  // of the trace before the question (checkpoint_of)

  friend bool operator==(const Choice&, const Choice&) = default;
};

// The low bits of the trace hash: few enough to store with every choice, and enough to detect a
// diverging replay within a choice or two.
inline std::uint16_t checkpoint_of(const ChoicePoint& point) {
  return static_cast<std::uint16_t>(point.trace_hash);
}

class RecordingStrategy final : public Strategy {
 public:
  explicit RecordingStrategy(Strategy& inner) : inner_(inner) {}

  std::uint64_t choose(const ChoicePoint& point) override;
  std::uint64_t schedule(const ChoicePoint& point, std::span<const ActorId> actors) override;
  const std::string* divergence() const override { return inner_.divergence(); }
  StepObserver* step_observer() override { return inner_.step_observer(); }

  const std::vector<Choice>& choices() const { return choices_; }

 private:
  Strategy& inner_;
  std::vector<Choice> choices_;
};

}  // namespace falafel::sim
