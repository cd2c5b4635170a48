// Repeats recorded answers. Each question must equal the recorded one and be asked at the same
// point of the same trace. The first question that differs is a divergence: the program, its
// options or the simulator have changed since the recording.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "fabric/sim/strategies/recording_strategy.h"
#include "fabric/sim/strategies/strategy.h"

namespace falafel::sim {

struct Divergence {
  std::uint64_t step = 0;
  std::size_t choice_index = 0;  // from 0; the number of choices if none are left
  std::string explanation;
};

class ReplayStrategy final : public Strategy {
 public:
  explicit ReplayStrategy(std::vector<Choice> choices);

  // After a divergence, all answers are 0.
  std::uint64_t choose(const ChoicePoint& point) override;
  std::uint64_t schedule(const ChoicePoint& point, std::span<const ActorId> actors) override;
  const std::string* divergence() const override;

  const std::optional<Divergence>& first_divergence() const { return divergence_; }

 private:
  std::uint64_t answer(const ChoicePoint& point, std::uint64_t bound);
  void diverge(const ChoicePoint& point, std::uint64_t bound);
  std::string explain(const ChoicePoint& point, std::uint64_t bound) const;

  std::vector<Choice> choices_;
  std::size_t next_ = 0;
  std::optional<Divergence> divergence_;
};

}  // namespace falafel::sim
