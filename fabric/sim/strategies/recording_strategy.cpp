#include "fabric/sim/strategies/recording_strategy.h"

namespace falafel::sim {

std::uint64_t RecordingStrategy::choose(const ChoicePoint& point) {
  const std::uint64_t value = inner_.choose(point);
  choices_.push_back({point.kind, point.bound, value, checkpoint_of(point)});
  return value;
}

std::uint64_t RecordingStrategy::schedule(const ChoicePoint& point,
                                          std::span<const ActorId> actors) {
  const std::uint64_t value = inner_.schedule(point, actors);
  choices_.push_back({point.kind, actors.size(), value, checkpoint_of(point)});
  return value;
}

}  // namespace falafel::sim
