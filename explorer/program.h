// The interfaces that a program implements to be explored: scenarios generated from seeds, and a
// judge of their runs.
//
// A scenario determines everything in a run except the schedule: the parties, their actions, and
// the network. Together with a schedule (the answers to the simulator's questions), it is a run
// that can be repeated exactly. Campaigns, shrinking and replay use only these interfaces and know
// nothing else about a program.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "checkers/judgement.h"
#include "explorer/run_listener.h"
#include "explorer/vocabulary.h"
#include "fabric/fabric.h"
#include "fabric/sim/options/options.h"
#include "fabric/sim/simulation.h"
#include "fabric/sim/strategies/strategy.h"

namespace falafel::timeline {
class Recorder;
}  // namespace falafel::timeline

namespace falafel::explorer {

class Simplifier;
struct SmallAblation;
struct SmallWorld;

class Scenario {
 public:
  virtual ~Scenario() = default;

  virtual std::unique_ptr<Scenario> clone() const = 0;
  // All fields except `simulation`, which replay files store separately. Equal scenarios have equal
  // JSON.
  virtual nlohmann::json to_json() const = 0;
  // Describes every random option in a few lines, each with a line end.
  virtual std::string describe() const = 0;
  // The size for a progress line, such as "2 clients, 5 operations".
  virtual std::string size() const = 0;
  // One pass of shrinking: offers simpler scenarios to `simplifier`, which keeps those that still
  // fail. Returns whether it kept any.
  virtual bool simplify(Simplifier& simplifier) const = 0;
  // Called before an exhaustive exploration, whose runs may prepare themselves in another way.
  virtual void prepare_for_exploration() {}

  sim::SimulationOptions simulation{};

 protected:
  Scenario() = default;
  Scenario(const Scenario&) = default;
  Scenario& operator=(const Scenario&) = default;
};

// Tries simpler scenarios while a failing run is shrunk.
class Simplifier {
 public:
  virtual ~Simplifier() = default;

  // The simplest failing scenario so far. The reference is valid until the next attempt.
  virtual const Scenario& best() const = 0;
  // Searches for a schedule with which `candidate` fails in the same way. If it finds one, the
  // candidate becomes the best scenario, and it returns true. A candidate that equals the best is
  // not tried.
  virtual bool attempt(const Scenario& candidate) = 0;
  virtual bool is_time_over() const = 0;
};

// Removes parts of a list as long as the run keeps failing: halves, then quarters, down to single
// elements. `count` returns the length of the list in the best scenario. `remove(begin, end)`
// attempts the scenario without these elements and returns whether it was kept.
bool remove_parts(const Simplifier& simplifier, const std::function<std::size_t()>& count,
                  const std::function<bool(std::size_t begin, std::size_t end)>& remove);

// A run with its judgement.
struct Run {
  sim::RunResult result;
  std::vector<checkers::Judgement> violations;  // at most one per property
  std::vector<checkers::Judgement> unknown;     // checkers that reached a limit

  // The property of the first violation; empty if all properties hold.
  std::string property() const;
  bool violates(std::string_view property) const;
  // Moves the violation of `property` to the front, if there is one.
  void put_first(std::string_view property);
};

// Runs scenarios of one program sequentially. It keeps resources that runs can share, such as
// stacks.
class Runner {
 public:
  virtual ~Runner() = default;

  // `scenario` must belong to the program. `strategy` answers the simulator's questions.
  virtual Run run(const Scenario& scenario, sim::Strategy& strategy) = 0;

  // The same for a run that repeats an earlier one: Program::conditions does not count it.
  virtual Run repeat(const Scenario& scenario, sim::Strategy& strategy) {
    return run(scenario, strategy);
  }

  // The same run, which reports its events, operations and notes to `listener`. The listener must
  // not change the course of the run.
  virtual Run run_observed(const Scenario& scenario, sim::Strategy& strategy,
                           RunListener& listener) = 0;
  // Names what runs of `scenario` touch. Valid until the next call; during a run, it knows what the
  // run has named so far.
  virtual const Vocabulary& vocabulary(const Scenario& scenario) = 0;
  // A recorder of the program's own, for the timeline of one run of `scenario`, which outlives the
  // recorder, as does this runner. Null: the timeline shows what the run reports to a listener,
  // with the names of the vocabulary (timeline/recorder.h).
  virtual std::shared_ptr<timeline::Recorder> create_recorder(const Scenario& /*scenario*/) {
    return nullptr;
  }
};

class Program {
 public:
  virtual ~Program() = default;

  // Stored in replay files, so that no program replays files of another one.
  virtual std::string_view name() const = 0;
  // Called before a campaign starts processes that draw and run scenarios, so that none of them has
  // to do again what all of them need.
  virtual void prepare_campaign() const {}
  // Returns the same scenario for the same seed.
  virtual std::unique_ptr<Scenario> draw(std::uint64_t seed) const = 0;
  // The same scenario for a proof: in the weakest network that the contract and the promises of the
  // program's device allow (exhaustive/assumptions.h), and with every fault that the program
  // allows. By default, the network is that of draw().
  virtual std::unique_ptr<Scenario> draw_for_proof(std::uint64_t seed) const { return draw(seed); }
  // The inverse of Scenario::to_json; returns an error message for invalid input. Any JSON is
  // allowed.
  virtual tl::expected<std::unique_ptr<Scenario>, std::string> parse(
      const nlohmann::json& json) const = 0;
  virtual std::unique_ptr<Runner> create_runner() const = 0;
  // Rare branches of the program that a campaign counts.
  virtual std::span<const fabric::Probe> probes() const = 0;

  // The number of runs of this program so far that reached each condition that its campaigns must
  // reach. Counts runs in forked processes too.
  virtual std::map<std::string, std::uint64_t> conditions() const { return {}; }

  // Protections that ablation switches off one at a time, and the program without one of them.
  virtual std::vector<std::string> safeguards() const { return {}; }
  virtual std::unique_ptr<Program> without(const std::string& /*safeguard*/) const {
    return nullptr;
  }

  // Scenarios that can be explored exhaustively (small_world.h).
  virtual std::vector<SmallWorld> small_worlds() const;
  virtual std::vector<SmallAblation> small_ablations() const;
};

}  // namespace falafel::explorer
