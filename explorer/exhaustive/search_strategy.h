// Lets a search decide a run of the simulator. Every step of an actor, or of one of its lanes, is a
// step of a process; a jump of the clock is a step of the environment, and a fault is a process of
// its own.
//
// Until the time `explored_from_ns`, while the program prepares itself, and from
// `explored_until_ns` on, nothing is explored: the first ready actor that is no fault steps, and
// all other answers are neutral.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "explorer/exhaustive/search.h"
#include "fabric/fabric.h"
#include "fabric/sim/strategies/strategy.h"
#include "fabric/sim/touches.h"

namespace falafel::explorer {

class SearchStrategy final : public sim::Strategy, public sim::StepObserver {
 public:
  struct Scope {
    std::uint64_t explored_from_ns = 0;
    std::uint64_t explored_until_ns = fabric::never_ns;
    bool has_preparations = false;  // explores only when the program has ended them
    bool draws_numbers = true;      // goes through all answers of fabric::Host::random
    bool tells_lanes = false;       // each lane of an actor is a process, not the actor
  };
  SearchStrategy(Search& search, const Scope& scope) : search_(search), scope_(scope) {}

  // Call between runs.
  void begin_run();
  // The search ended the present run.
  bool is_ended() const { return is_ended_; }
  // True if the program ended its preparations in the present run.
  bool has_ended_preparations() const { return has_ended_preparations_; }
  // True if the search could choose anything in any run so far.
  bool has_explored() const { return has_explored_; }
  // Deadlines that passed only when nothing else could move, in any run so far.
  const std::set<std::string>& deadlines() const { return deadlines_; }
  // The most choices that were fixed in a run so far, because they were outside of the explored
  // part.
  std::uint64_t fixed_choices() const { return most_fixed_choices_; }

  std::uint64_t choose(const sim::ChoicePoint& point) override;
  std::uint64_t schedule(const sim::ChoicePoint& point,
                         std::span<const sim::ActorId> actors) override;
  sim::StepObserver* step_observer() override { return this; }

  void introduce_special(sim::ActorId actor, sim::SpecialActor role) override;
  bool tells_lanes() const override { return scope_.tells_lanes; }
  void offer_lanes(std::span<const sim::Lane> lanes) override { lanes_ = lanes; }
  bool begin_step(std::span<const sim::ActorId> ready, std::uint64_t time_ns) override;
  sim::LaneNumber lane() const override { return lane_; }
  bool begin_jump() override;
  void touch(const sim::Touch& touch) override;
  void end_preparations() override { has_ended_preparations_ = true; }
  bool wants_deadlines() const override { return is_exploring_ && !is_ended_; }
  void leave_out(const sim::Deadline& deadline) override;
  void end_run() override { is_exploring_ = false; }

 private:
  void list_enabled(std::span<const sim::ActorId> ready);
  bool begin(std::span<const Process> enabled);
  Process process_of(sim::ActorId actor) const;
  Process process_of(const sim::Lane& lane) const;
  void choose_unexplored();
  std::uint64_t unique_number();

  Search& search_;
  Scope scope_;
  bool is_exploring_ = false;
  bool is_ended_ = false;
  bool has_ended_preparations_ = false;
  bool has_explored_ = false;
  std::set<std::string> deadlines_;
  std::uint64_t fixed_choices_ = 0;
  std::uint64_t most_fixed_choices_ = 0;
  Process process_ = environment;  // that makes the present step
  std::size_t chosen_ = 0;         // the place of its actor among the ready ones
  sim::LaneNumber lane_ = sim::whole_actor;
  std::span<const sim::Lane> lanes_;  // that can make the next step
  std::vector<Process> enabled_;
  std::map<sim::ActorId, sim::SpecialActor> special_actors_;
  std::map<Process, std::uint64_t> unique_numbers_;  // that each process has got
};

}  // namespace falafel::explorer
