// Gives recorded answers again. Each question must be the one that was recorded, asked at the same
// point of the same trace; the first that is not is a divergence: the program, its options or the
// simulator are no longer those of the recording.
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
  std::size_t choice_index = 0;  // from 0; may be the number of choices: there are no more
  std::string explanation;
};

class ReplayStrategy final : public Strategy {
 public:
  explicit ReplayStrategy(std::vector<Choice> choices);

  // Once diverged, all answers are 0.
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
