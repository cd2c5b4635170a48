#include "explorer/exhaustive/search_strategy.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <iterator>
#include <string_view>

#include "explorer/scripted_strategy.h"
#include "fabric/random.h"

namespace falafel::explorer {
namespace {

// The lower half of a process names the actor, the upper half the lane.
constexpr unsigned lane_shift = 32;
constexpr Process actor_mask = (Process{1} << lane_shift) - 1;

sim::LaneNumber lane_of(Process process) {
  return static_cast<sim::LaneNumber>(process >> lane_shift);
}

}  // namespace

void SearchStrategy::begin_run() {
  is_exploring_ = false;
  is_ended_ = false;
  has_ended_preparations_ = false;
  fixed_choices_ = 0;
  process_ = environment;
  special_actors_.clear();
  unique_numbers_.clear();
}

void SearchStrategy::introduce_special(sim::ActorId actor, sim::SpecialActor role) {
  special_actors_.emplace(actor, role);
}

Process SearchStrategy::process_of(sim::ActorId actor) const {
  const Process process = actor + 1;
  if (special_actors_.empty()) return process;
  const auto special = special_actors_.find(actor);
  if (special == special_actors_.end()) return process;
  return special->second == sim::SpecialActor::clock ? environment : process | fault_flag;
}

Process SearchStrategy::process_of(const sim::Lane& lane) const {
  return Process{lane.number} << lane_shift | process_of(lane.actor);
}

bool SearchStrategy::begin_step(std::span<const sim::ActorId> ready, std::uint64_t time_ns) {
  is_exploring_ = time_ns >= scope_.explored_from_ns && time_ns < scope_.explored_until_ns &&
                  (has_ended_preparations_ || !scope_.has_preparations);
  lane_ = sim::whole_actor;
  list_enabled(ready);
  if (!is_exploring_) {
    choose_unexplored();
    return true;
  }
  if (!begin(enabled_)) return false;
  const auto chosen = std::ranges::find(ready, process_ & actor_mask,
                                        [this](sim::ActorId actor) { return process_of(actor); });
  chosen_ = static_cast<std::size_t>(std::distance(ready.begin(), chosen));
  lane_ = lane_of(process_);
  const bool is_jump = process_ == environment;
  const bool is_whole = lane_ == sim::whole_actor;
  if (!is_jump) {
    search_.touch({sim::Touchable::actor, ready[chosen_],
                   is_whole ? sim::Access::writes : sim::Access::reads});
  }
  search_.touch({sim::Touchable::world, 0, is_jump ? sim::Access::writes : sim::Access::reads});
  return true;
}

void SearchStrategy::list_enabled(std::span<const sim::ActorId> ready) {
  enabled_.clear();
  if (scope_.tells_lanes && is_exploring_) {
    for (const sim::Lane& lane : lanes_) enabled_.push_back(process_of(lane));
  } else {
    for (const sim::ActorId actor : ready) enabled_.push_back(process_of(actor));
  }
}

void SearchStrategy::choose_unexplored() {
  const auto first = std::ranges::find_if_not(enabled_, is_fault);
  chosen_ = static_cast<std::size_t>(std::distance(enabled_.begin(), first));
  process_ = enabled_[chosen_];
  if (enabled_.size() > 1) most_fixed_choices_ = std::max(most_fixed_choices_, ++fixed_choices_);
}

void SearchStrategy::leave_out(const sim::Deadline& deadline) {
  constexpr std::string_view sleep = "the clock";
  if (deadline.fiber.empty()) {
    deadlines_.emplace("the network waits before it tries again, or for the end of a delay");
  } else if (deadline.waits_for == sleep) {
    deadlines_.insert(fmt::format("fiber '{}' of {} sleeps", deadline.fiber, deadline.host));
  } else {
    deadlines_.insert(fmt::format("fiber '{}' of {} waits for {}, up to a deadline", deadline.fiber,
                                  deadline.host, deadline.waits_for));
  }
}

bool SearchStrategy::begin_jump() {
  process_ = environment;
  if (!is_exploring_) return true;
  if (!begin({&environment, 1})) return false;
  search_.touch({sim::Touchable::world, 0, sim::Access::writes});
  return true;
}

bool SearchStrategy::begin(std::span<const Process> enabled) {
  if (enabled.size() > 1) has_explored_ = true;
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
  if (!std::has_single_bit(point.sufficient)) has_explored_ = true;
  return search_.choose(point.bound, point.sufficient);
}

// It depends on the steps of the process alone, so that steps of other processes commute with it.
std::uint64_t SearchStrategy::unique_number() {
  std::uint64_t state = process_ << 32U | unique_numbers_[process_]++;
  return fabric::splitmix64(state);
}

}  // namespace falafel::explorer
