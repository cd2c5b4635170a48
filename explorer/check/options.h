// The options of a campaign over a test body, and of its network.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "fabric/sim/options/options.h"

namespace falafel::check {

// Faults that only delay, and what datagrams and unreliable connections always suffer. A correct
// program needs no code for them.
std::vector<sim::FaultKind> delays();
// These, and hosts that crash, restart or stop forever, connections that break, and registrations
// that fail. The program must handle errors of every call, and completions that are not successes.
std::vector<sim::FaultKind> all_faults();

// The network of each run is drawn from its seed (sim::draw_swarm_options) within these limits.
struct Network {
  std::vector<sim::FaultKind> faults = delays();
  // The number of steps of a run without faults. Rates of faults, pct_steps and the limits below
  // suit runs of this length. Empty: measured before the first run, as the median of five seeds.
  std::optional<std::uint64_t> usual_steps{};
  // From this step on, no fault strikes, and the schedule is fair: everything that can move takes
  // turns. Empty: once, twice or four times the usual steps, drawn for each run, and at most half
  // of the step limit.
  std::optional<std::uint64_t> fair_after_steps{};
  // A run that is fair and does not end within this limit makes no progress. It is at least twice
  // the step from which the run is fair. Empty: four hundred times the usual steps, from
  // 40,000 to 100,000, and for long runs ten times the usual steps.
  std::optional<std::uint64_t> step_limit{};
  // The strategy that picks the next party to make a step. Empty: drawn for each run.
  std::optional<sim::StrategyKind> strategy{};
  // Changes the drawn options, for example to what the program's device promises. May be empty.
  std::function<void(sim::SimulationOptions&)> adjust{};
};

// A network that does not depend on how long the program's runs are: for figures that are compared
// between programs, and between versions of one.
Network unscaled_network();

struct Options {
  // Replay files carry the name, and it names them. Empty: the name of the calling function, which
  // in most test frameworks is the name of the test.
  std::string name{};
  std::uint64_t schedules = 10'000;
  std::uint64_t first_seed = 1;
  double seconds = 0;  // time limit of the campaign; 0: as long as the schedules take
  unsigned jobs = 1;   // worker processes
  double shrink_seconds = 20;
  // The share of all schedules that may end without a verdict, because a checker reached a limit.
  // With a larger share, the campaign fails.
  double permitted_unjudged_share = 0;
  std::uint64_t critical_tries = 30;  // continuations to try for the critical step
  std::string output = ".";           // folder for replay files; created if it does not exist
  Network network{};
};

}  // namespace falafel::check
