// The world of one run: its hosts, what they must keep to, and what they report. A test body
// declares it and then runs it:
//
//   [](check::World& world) {
//     std::shared_ptr<fabric::MemoryBlock> memory;
//     world.server("server", [&](fabric::Host& host) { ... });
//     world.clients(3, [&](fabric::Host& host, std::uint32_t client) { ... });
//     world.run();
//     world.check(check::word(memory, 0) == 3, "counter.lost-update", "...");
//   }
//
// The body is called once per run, and everything that it keeps belongs to that run. Functions that
// it passes to the world may refer to its local variables, because run() returns before they end.
#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "checkers/judgement.h"
#include "checkers/specification.h"
#include "explorer/check/aba_watch.h"
#include "explorer/check/conditions.h"
#include "explorer/check/names.h"
#include "explorer/check/scenario.h"
#include "explorer/check/starting_line.h"
#include "explorer/program.h"
#include "explorer/run_listener.h"
#include "fabric/fabric.h"
#include "fabric/fiber_stack.h"
#include "fabric/sim/simulation.h"

namespace falafel::check {

// Properties of every run: it comes to its end. A run is stuck if its fibers wait for what can no
// longer happen. It makes no progress if it reaches the step limit, although the
// schedule was fair and no fault struck for the greater part of it (Network in options.h).
inline constexpr std::string_view stuck_property = "progress.stuck";
inline constexpr std::string_view progress_property = "progress.ends";
// A fiber makes call after call, and none that waits, so nothing else can move.
inline constexpr std::string_view spinning_property = "progress.spins";

// Thrown by RemoteMemory when its connection breaks. It ends the client that does not catch it, as
// if the client had crashed; the run continues.
struct Disconnected {};

// A condition that some run of the campaign must reach.
class Condition {
 public:
  void reached();
  void reached_if(bool is_reached) {
    if (is_reached) reached();
  }

 private:
  friend class World;
  Condition(Conditions& conditions, std::size_t index) : conditions_(&conditions), index_(index) {}

  Conditions* conditions_;
  std::size_t index_;
  bool is_counted_ = false;
};

// A word of memory as it is now. Unlike MemoryBlock::load, it takes no step and may be used when
// the run is over. Zero if the block is null (its host has not started).
std::uint64_t word(const fabric::MemoryBlock* block, std::uint64_t offset);
std::uint64_t word(const std::shared_ptr<fabric::MemoryBlock>& block, std::uint64_t offset);

template <checkers::Specification S>
class History;

class World {
 public:
  using HostBody = std::function<void(fabric::Host&)>;
  using ClientBody = std::function<void(fabric::Host&, std::uint32_t client)>;

  // The parts that the runner gives to a run. All of them outlive the world; pointers may be null.
  struct Environment {
    const WorldScenario& scenario;
    sim::Strategy& strategy;
    fabric::FiberStackPool& stacks;
    Conditions& conditions;
    Names& names;
    std::set<std::string>* safeguards = nullptr;  // collects the names that the body asks about
    explorer::RunListener* listener = nullptr;
  };
  explicit World(const Environment& environment);
  ~World();
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  // Before run(): hosts. Throws a std::invalid_argument if there is a host of that name.

  // A server may serve forever: the run ends when all clients and peers have returned, and the
  // server's fibers are then cancelled.
  void server(std::string name, HostBody body);
  void client(std::string name, HostBody body);
  // "client 0", "client 1", ..., with their numbers. Several calls continue the numbers.
  void clients(std::uint32_t count, const ClientBody& body);
  // Hosts that are server and client: "peer 0", "peer 1", ... They end like clients. What a peer
  // serves belongs in a daemon fiber of its own (FiberOptions::daemon). Faults of clients and of
  // servers strike them (sim::Role::node).
  void peers(std::uint32_t count, const ClientBody& body);
  // Any other host. With `daemon`, the run does not wait for it.
  void host(const sim::HostOptions& options, bool daemon, HostBody body);

  // Before run(): a number below `bound`, which is at least 1. The scenario determines it.
  // During the run, use fabric::Host::random instead.
  std::uint64_t choose(std::uint64_t bound);
  template <typename Value>
  Value one_of(std::initializer_list<Value> values) {
    return values.begin()[choose(values.size())];
  }

  // Returns whether this protection is in use. Ablation switches off one after the other, and
  // expects to find a failing schedule. Ask before run(), so that all names are known.
  bool safeguard(std::string_view name);

  // Before run(): a history that is judged at the end of the run (history.h). Names distinguish the
  // histories of several objects; the property is "linearizability" or "linearizability.NAME".
  template <checkers::Specification S>
  History<S>& history(const std::string& name = {});

  // Before run(): the campaign fails if none of its runs reaches the condition.
  Condition& sometimes(std::string_view name);

  // Before run(): no party may swap one of these words if the word has changed since the party read
  // it, and has changed back (property "aba"). The range is in the memory of every host, as in
  // name(). A party is a fiber; it reads by READs, failed swaps and processor accesses. For words
  // whose values must not repeat, such as references with a counter; not for locks.
  void forbid_aba(std::uint64_t offset, std::uint64_t length_bytes = fabric::word_bytes);
  // Before run(): a party that swaps a word back has not changed it (checkers/aba.h).
  void permit_undone_swaps() { aba_.permit_undone_swaps(); }
  // Before run(): must hold after every step. `holds` must not wait. It takes time at every step,
  // so keep it short.
  void always(std::string property, std::function<bool()> holds);
  // Before run(): called at the end of a run that completed, when nothing is in flight any more. To
  // report, it calls check() or fail(). Memory blocks outlive the hosts; see word().
  void at_rest(std::function<void()> judge);

  // Runs the simulation. Call once, at the end of the body or before the last checks.
  void run();
  // After run(): whether all clients and peers returned, and nothing is in flight.
  bool completed() const;
  const sim::RunResult& result() const { return run_.result; }

  // A violation of the property, which ends the run. Of several violations of one property, the
  // first counts. `explanation` is a sentence or several.
  void fail(std::string property, std::string explanation);
  void check(bool holds, std::string property, std::string explanation = "does not hold");

  // For the story and the timeline of the run.
  void note(const fabric::Host& host, std::string_view text);
  // Names memory of the servers by its offset: "head", or "ring[2]" if there are several words.
  void name(std::uint64_t offset, std::uint64_t length_bytes, std::string name);
  // The text that shows a word. The function must not refer to variables of the body.
  void describe_words(std::function<std::string(std::uint64_t)> describe);

  // During run(): the host is connected and prepared. Each client and peer calls it once. An
  // exploration begins when all have called it, and leaves out what comes before; until then, the
  // call waits. In other runs, it does nothing.
  void ready(fabric::Host& host);
  // During run(): scripted faults; see sim::Simulation.
  sim::Simulation& simulation();

  // The operations of the declarative form; see workload.h.
  const DrawnClients& drawn_clients() const { return environment_.scenario.clients; }

  // Numbers that grow with every call, to order events of one run: an operation is called, or it
  // returns. An exploration tries both orders of a call and a return. Call during run().
  std::uint64_t next_call_time();
  std::uint64_t next_return_time();
  // "client 2", or "peer 2" if there are no clients.
  std::string name_of_client(std::uint32_t client) const;
  explorer::RunListener* listener() const { return environment_.listener; }
  // Called when the run has ended, to judge what happened.
  void at_end(std::function<void(explorer::Run&)> judge);

  // The judged run. Throws a std::logic_error if the body has not called run().
  explorer::Run take_run();

 private:
  class Observer;
  struct Always {
    std::string property;
    std::function<bool()> holds;
  };
  struct PlannedHost {
    sim::HostOptions options;
    bool daemon;
    HostBody body;
  };

  void require_not_run(std::string_view call) const;
  void add_hosts(sim::Simulation& simulation);
  bool was_fair_for_long() const;
  std::size_t foreground_hosts() const;
  void judge_end();
  void judge_always();
  void judge_aba(const sim::TraceEvent& event);
  void report(checkers::Judgement violation);

  Environment environment_;
  std::vector<PlannedHost> hosts_;
  std::uint32_t clients_ = 0;
  std::uint32_t peers_ = 0;
  std::vector<std::unique_ptr<Condition>> conditions_;
  std::vector<Always> always_;
  AbaWatch aba_;
  std::vector<std::function<void()>> at_rest_;
  std::vector<std::function<void(explorer::Run&)>> at_end_;
  StartingLine starting_line_;
  sim::Simulation* simulation_ = nullptr;
  bool has_run_ = false;
  std::uint64_t time_ = 0;
  explorer::Run run_;
};

}  // namespace falafel::check
