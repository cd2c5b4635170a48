#include "explorer/exhaustive/search_strategy.h"

#include <algorithm>
#include <iterator>

#include "explorer/scripted_strategy.h"
#include "fabric/random.h"

namespace falafel::explorer {
namespace {

Process process_of(sim::ActorId actor) { return actor + 1; }
sim::ActorId actor_of(Process process) { return process - 1; }

}  // namespace

void SearchStrategy::begin_run() {
  is_exploring_ = false;
  is_ended_ = false;
  process_ = environment;
  unique_numbers_.clear();
}

bool SearchStrategy::begin_step(std::span<const sim::ActorId> ready, std::uint64_t time_ns) {
  chosen_ = 0;
  process_ = process_of(ready.front());
  is_exploring_ = time_ns >= scope_.explored_from_ns && time_ns < scope_.explored_until_ns;
  if (!is_exploring_) return true;
  enabled_.clear();
  std::ranges::transform(ready, std::back_inserter(enabled_), process_of);
  if (!begin(enabled_)) return false;
  const auto chosen = std::ranges::find(ready, actor_of(process_));
  chosen_ = static_cast<std::size_t>(std::distance(ready.begin(), chosen));
  search_.touch({sim::Touchable::actor, actor_of(process_), sim::Access::writes});
  search_.touch({sim::Touchable::world, 0, sim::Access::reads});
  return true;
}

bool SearchStrategy::begin_jump() {
  process_ = environment;
  if (!is_exploring_) return true;
  if (!begin({&environment, 1})) return false;
  search_.touch({sim::Touchable::world, 0, sim::Access::writes});
  return true;
}

bool SearchStrategy::begin(std::span<const Process> enabled) {
  const std::optional<Process> next = search_.next(enabled);
  is_ended_ = !next;
  if (next) process_ = *next;
  return !is_ended_;
}

void SearchStrategy::touch(const sim::Touch& touch) {
  if (is_exploring_ && !is_ended_) search_.touch(touch);
}

std::uint64_t SearchStrategy::schedule(const sim::ChoicePoint& /*point*/,
                                       std::span<const sim::ActorId> /*actors*/) {
  return chosen_;
}

std::uint64_t SearchStrategy::choose(const sim::ChoicePoint& point) {
  if (point.bound == 0) return unique_number();
  const bool is_fixed = point.kind == sim::ChoiceKind::program && !scope_.draws_numbers;
  if (!is_exploring_ || is_ended_ || is_fixed) return neutral_answer(point.kind, point.bound);
  return search_.choose(point.bound, point.sufficient);
}

// It depends on the steps of the process alone, so that steps of other processes commute with it.
std::uint64_t SearchStrategy::unique_number() {
  std::uint64_t state = std::uint64_t{process_} << 32U | unique_numbers_[process_]++;
  return fabric::splitmix64(state);
}

}  // namespace falafel::explorer
