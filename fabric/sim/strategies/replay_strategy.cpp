#include "fabric/sim/strategies/replay_strategy.h"

#include <fmt/format.h>
#include <utility>

namespace falafel::sim {

namespace {

// The choices may come from any source; a value out of bounds must not reach the simulator.
bool fits(const Choice& choice, const ChoicePoint& point, std::uint64_t bound) {
  return choice.kind == point.kind && choice.bound == bound &&
         choice.checkpoint == checkpoint_of(point) && (bound == 0 || choice.value < bound);
}

std::string describe(ChoiceKind kind, std::uint64_t bound) {
  if (bound == 0) return fmt::format("{} of any 64 bits", to_string(kind));
  return fmt::format("{} below {}", to_string(kind), bound);
}

}  // namespace

ReplayStrategy::ReplayStrategy(std::vector<Choice> choices) : choices_(std::move(choices)) {}

std::uint64_t ReplayStrategy::choose(const ChoicePoint& point) {
  return answer(point, point.bound);
}

std::uint64_t ReplayStrategy::schedule(const ChoicePoint& point, std::span<const ActorId> actors) {
  return answer(point, actors.size());
}

const std::string* ReplayStrategy::divergence() const {
  return divergence_ ? &divergence_->explanation : nullptr;
}

std::uint64_t ReplayStrategy::answer(const ChoicePoint& point, std::uint64_t bound) {
  if (divergence_) return 0;
  if (next_ < choices_.size() && fits(choices_[next_], point, bound)) {
    return choices_[next_++].value;
  }
  diverge(point, bound);
  return 0;
}

void ReplayStrategy::diverge(const ChoicePoint& point, std::uint64_t bound) {
  divergence_ = Divergence{.step = point.step,
                           .choice_index = next_,
                           .explanation = fmt::format("step {}, choice {}: {}", point.step, next_,
                                                      explain(point, bound))};
}

std::string ReplayStrategy::explain(const ChoicePoint& point, std::uint64_t bound) const {
  const std::string asked = describe(point.kind, bound);
  if (next_ == choices_.size()) {
    return fmt::format("the run asks for a {}, but the recording ends here", asked);
  }
  const Choice& choice = choices_[next_];
  if (choice.kind != point.kind || choice.bound != bound) {
    return fmt::format("the run asks for a {}, recorded was a {}", asked,
                       describe(choice.kind, choice.bound));
  }
  if (choice.checkpoint != checkpoint_of(point)) {
    return fmt::format(
        "the trace has checkpoint {}, recorded was {}: something happened otherwise since the "
        "choice before",
        checkpoint_of(point), choice.checkpoint);
  }
  return fmt::format("the recorded value {} of a {} is not below its bound", choice.value, asked);
}

}  // namespace falafel::sim
