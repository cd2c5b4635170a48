// What a program offers to be explored: scenarios drawn from seeds, and a judge of their runs.
//
// A scenario is everything that decides a run except the schedule: the parties, what each of them does,
// and the network. Together with a schedule, the answers to the simulator's questions, it is a run that
// repeats bit for bit. Campaigns, shrinking and replay work on these interfaces and know nothing else
// about a program.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "checkers/judgement.h"
#include "fabric/fabric.h"
#include "fabric/sim/options/options.h"
#include "fabric/sim/simulation.h"
#include "fabric/sim/strategies/strategy.h"

namespace falafel::explorer {

class Simplifier;

class Scenario {
 public:
  virtual ~Scenario() = default;

  virtual std::unique_ptr<Scenario> clone() const = 0;
  // All fields but `simulation`, which replay files store separately. Equal scenarios have equal JSON.
  virtual nlohmann::json to_json() const = 0;
  // Every option that the seed drew, for people: a few lines, each with a line end.
  virtual std::string describe() const = 0;
  // How large it is, for a progress line: "2 clients, 5 operations".
  virtual std::string size() const = 0;
  // One pass of shrinking: offers simpler scenarios to `simplifier`, which keeps those that still fail.
  // Returns whether it kept any.
  virtual bool simplify(Simplifier& simplifier) const = 0;

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

  // The simplest scenario that fails so far. The reference ends with the next attempt.
  virtual const Scenario& best() const = 0;
  // Searches for a schedule of `candidate` that fails in the same way. If there is one, it becomes the
  // best; returns whether it did. A candidate that equals the best is not tried.
  virtual bool attempt(const Scenario& candidate) = 0;
  virtual bool is_time_over() const = 0;
};

// Removes parts of a list while the run keeps failing: halves of it, then quarters, down to single parts.
// `count` gives the length of the list in the best scenario; `remove(begin, end)` attempts the scenario
// without these parts and returns whether it was kept.
bool remove_parts(const Simplifier& simplifier, const std::function<std::size_t()>& count,
                  const std::function<bool(std::size_t begin, std::size_t end)>& remove);

// A run and its judgement.
struct Run {
  sim::RunResult result;
  std::vector<checkers::Judgement> violations;  // at most one of each property
  std::vector<checkers::Judgement> unknown;     // a checker reached a limit

  // The first violation's property; empty: all properties hold.
  std::string property() const;
  bool violates(std::string_view property) const;
  // Makes the violation of `property` the first, if there is one.
  void put_first(std::string_view property);
};

// Runs scenarios of one program, one after the other. It keeps what runs can share, such as stacks.
class Runner {
 public:
  virtual ~Runner() = default;

  // `scenario` is one of the program's own. `strategy` answers the questions of the simulator.
  virtual Run run(const Scenario& scenario, sim::Strategy& strategy) = 0;
};

class Program {
 public:
  virtual ~Program() = default;

  // Replay files carry it, so that one program does not replay another's.
  virtual std::string_view name() const = 0;
  // The same scenario for the same seed.
  virtual std::unique_ptr<Scenario> draw(std::uint64_t seed) const = 0;
  // The inverse of Scenario::to_json, or a message that names what is wrong. Any JSON is allowed.
  virtual tl::expected<std::unique_ptr<Scenario>, std::string> parse(
      const nlohmann::json& json) const = 0;
  virtual std::unique_ptr<Runner> create_runner() const = 0;
  // Rare branches of the program that a campaign counts.
  virtual std::span<const fabric::Probe> probes() const = 0;
};

}  // namespace falafel::explorer
