#include "explorer/check/world.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <utility>

#include "explorer/check/fair_strategy.h"
#include "fabric/random.h"

namespace falafel::check {
namespace {

// The simulator's options and strategies use the same seed, and their random numbers must be
// independent of these.
constexpr std::uint64_t choice_stream = 0x63686f696365;

// The objects that the world itself shares between hosts (Simulation::touch). Bodies number theirs
// from 0.
constexpr std::uint32_t history_object = ~std::uint32_t{0};
constexpr std::uint32_t always_object = history_object - 1;

// The number of a choice determines its value, so that it stays when the number of earlier choices
// changes.
std::uint64_t draw_choice(std::uint64_t seed, std::size_t number, std::uint64_t bound) {
  std::uint64_t state = seed ^ choice_stream;
  state = fabric::splitmix64(state) + number;
  return fabric::RandomGenerator(state).below(bound);
}

}  // namespace

void Condition::reached() {
  if (!std::exchange(is_counted_, true)) conditions_->reached(index_);
}

std::uint64_t word(const fabric::MemoryBlock* block, std::uint64_t offset) {
  if (block == nullptr) return 0;
  // bytes() changes nothing, but is not const.
  const auto bytes = const_cast<fabric::MemoryBlock*>(block)->bytes();
  if (offset > bytes.size() || bytes.size() - offset < fabric::word_bytes) {
    throw std::out_of_range(
        fmt::format("no word at offset {} of a block of {} bytes", offset, bytes.size()));
  }
  std::uint64_t value = 0;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

std::uint64_t word(const std::shared_ptr<fabric::MemoryBlock>& block, std::uint64_t offset) {
  return word(block.get(), offset);
}

// Passes events on to the listener, and judges what must always hold between two steps.
class World::Observer final : public sim::TraceObserver {
 public:
  explicit Observer(World& world) : world_(world) {}

  void observe(const sim::TraceEvent& event) override {
    if (event.step != step_) {
      step_ = event.step;
      world_.judge_always();
    }
    if (!world_.aba_.is_empty()) world_.judge_aba(event);
    if (world_.listener() != nullptr) world_.listener()->observe(event);
  }
  void introduce(const sim::Subject& subject) override {
    world_.aba_.introduce(subject);
    if (world_.listener() != nullptr) world_.listener()->introduce(subject);
  }
  void observe_pause(const sim::Pause& pause) override {
    if (world_.listener() != nullptr) world_.listener()->observe_pause(pause);
  }

 private:
  World& world_;
  std::uint64_t step_ = 0;
};

World::World(const Environment& environment) : environment_(environment), aba_(environment.names) {
  environment_.names.clear();
  environment_.scenario.chosen.clear();
}

World::~World() = default;

void World::require_not_run(std::string_view call) const {
  if (has_run_) {
    throw std::logic_error(
        fmt::format("World::{} was called after World::run; declare the world "
                    "before it runs",
                    call));
  }
}

void World::server(std::string name, HostBody body) {
  host({.name = std::move(name), .role = sim::Role::server}, true, std::move(body));
}

void World::client(std::string name, HostBody body) {
  host({.name = std::move(name), .role = sim::Role::client}, false, std::move(body));
}

void World::clients(std::uint32_t count, const ClientBody& body) {
  for (std::uint32_t added = 0; added < count; ++added, ++clients_) {
    client(fmt::format("client {}", clients_),
           [body, number = clients_](fabric::Host& host) { body(host, number); });
  }
}

void World::peers(std::uint32_t count, const ClientBody& body) {
  for (std::uint32_t added = 0; added < count; ++added, ++peers_) {
    host({.name = fmt::format("peer {}", peers_), .role = sim::Role::node}, false,
         [body, number = peers_](fabric::Host& own) { body(own, number); });
  }
}

void World::host(const sim::HostOptions& options, bool daemon, HostBody body) {
  require_not_run("host");
  environment_.names.add_host(options.name);
  hosts_.push_back({.options = options, .daemon = daemon, .body = std::move(body)});
}

std::string World::name_of_client(std::uint32_t client) const {
  return fmt::format("{} {}", clients_ == 0 && peers_ > 0 ? "peer" : "client", client);
}

std::uint64_t World::choose(std::uint64_t bound) {
  require_not_run("choose");
  if (bound == 0) throw std::invalid_argument("World::choose needs a bound of at least 1, not 0");
  const WorldScenario& scenario = environment_.scenario;
  const std::size_t number = scenario.chosen.size();
  const std::uint64_t value = number < scenario.choices.size()
                                  ? scenario.choices[number] % bound
                                  : draw_choice(scenario.seed, number, bound);
  scenario.chosen.push_back(value);
  return value;
}

Condition& World::sometimes(std::string_view name) {
  require_not_run("sometimes");
  const std::size_t index = environment_.conditions.declare(name);
  conditions_.push_back(std::unique_ptr<Condition>(new Condition(environment_.conditions, index)));
  return *conditions_.back();
}

void World::forbid_aba(std::uint64_t offset, std::uint64_t length_bytes) {
  require_not_run("forbid_aba");
  const bool are_words = offset % fabric::word_bytes == 0 && length_bytes % fabric::word_bytes == 0;
  if (!are_words || length_bytes == 0) {
    throw std::invalid_argument(
        fmt::format("World::forbid_aba: bytes {}..+{} are not whole words; use multiples of 8",
                    offset, length_bytes));
  }
  aba_.add_range(offset, length_bytes);
}

void World::always(std::string property, std::function<bool()> holds) {
  require_not_run("always");
  always_.push_back({.property = std::move(property), .holds = std::move(holds)});
}

void World::at_rest(std::function<void()> judge) {
  require_not_run("at_rest");
  at_rest_.push_back(std::move(judge));
}

void World::at_end(std::function<void(explorer::Run&)> judge) {
  require_not_run("at_end");
  at_end_.push_back(std::move(judge));
}

void World::add_hosts(sim::Simulation& simulation) {
  for (const PlannedHost& planned : hosts_) {
    const auto run_body = [&planned](fabric::Host& host) {
      try {
        planned.body(host);
      } catch (const Disconnected&) {
        return;  // the host gives up
      }
    };
    simulation.add_host(planned.options, [&planned, run_body](fabric::Host& host) {
      if (!planned.daemon) return run_body(host);
      host.spawn({.name = "service", .daemon = true}, [&host, run_body] { run_body(host); });
    });
  }
}

void World::run() {
  require_not_run("run");
  has_run_ = true;
  const sim::SimulationOptions& options = environment_.scenario.simulation;
  FairStrategy strategy(environment_.strategy, options.last_fault_step);
  Observer observer(*this);
  const bool is_observed = listener() != nullptr || !always_.empty() || !aba_.is_empty();
  {
    sim::Simulation simulation(options, strategy, environment_.stacks,
                               is_observed ? &observer : nullptr);
    add_hosts(simulation);
    simulation_ = &simulation;
    run_.result = simulation.run();
    simulation_ = nullptr;
  }
  judge_end();
}

std::size_t World::foreground_hosts() const {
  return static_cast<std::size_t>(
      std::ranges::count(hosts_, false, [](const PlannedHost& host) { return host.daemon; }));
}

void World::ready(fabric::Host& host) {
  if (!environment_.scenario.gathers_when_ready) return;
  starting_line_.wait(host, foreground_hosts(), [this] {
    sim::StepObserver* const observer = environment_.strategy.step_observer();
    if (observer != nullptr) observer->end_preparations();
  });
}

bool World::was_fair_for_long() const {
  return run_.result.steps / 2 >= environment_.scenario.simulation.last_fault_step;
}

void World::judge_end() {
  environment_.scenario.reached_step_limit = run_.result.outcome == sim::Outcome::step_limit;
  switch (run_.result.outcome) {
    case sim::Outcome::completed:
      judge_always();
      for (const auto& judge : at_rest_) judge();
      break;
    case sim::Outcome::stuck:
      fail(std::string(stuck_property),
           "nothing can move, but clients have not returned: " + run_.result.explanation);
      break;
    case sim::Outcome::spinning:
      fail(std::string(spinning_property), run_.result.explanation);
      break;
    case sim::Outcome::step_limit:
      if (!was_fair_for_long()) break;  // shrinking tries shorter runs
      fail(std::string(progress_property),
           fmt::format("the run has not ended after {} steps, although its schedule has been fair "
                       "and without faults since step {}: {}",
                       run_.result.steps, environment_.scenario.simulation.last_fault_step,
                       run_.result.explanation));
      break;
    case sim::Outcome::stopped: break;    // a violation stopped it
    case sim::Outcome::diverged: return;  // there is nothing to judge
  }
  for (const auto& judge : at_end_) judge(run_);
}

// A history's answers depend on which operations returned before others were called, not on the
// order of two calls or of two returns.
std::uint64_t World::next_call_time() {
  simulation().touch(history_object, sim::Access::reads);
  return ++time_;
}

std::uint64_t World::next_return_time() {
  simulation().touch(history_object, sim::Access::adds);
  return ++time_;
}

// A condition may look at anything, so no two steps commute.
void World::judge_always() {
  if (!always_.empty() && simulation_ != nullptr) {
    simulation_->touch(always_object, sim::Access::writes);
  }
  for (const Always& always : always_) {
    if (!always.holds()) fail(always.property, "does not hold any more");
  }
}

void World::judge_aba(const sim::TraceEvent& event) {
  aba_.observe(event);
  if (aba_.judgement().verdict == checkers::Verdict::violated) report(aba_.judgement());
}

bool World::completed() const { return has_run_ && run_.result.outcome == sim::Outcome::completed; }

void World::fail(std::string property, std::string explanation) {
  const std::uint64_t step = simulation_ == nullptr ? 0 : simulation_->steps();
  if (step > 0) explanation += fmt::format(" (step {})", step);
  report({.verdict = checkers::Verdict::violated,
          .property = std::move(property),
          .explanation = std::move(explanation),
          .step = step});
}

void World::report(checkers::Judgement violation) {
  if (run_.violates(violation.property)) return;
  run_.violations.push_back(std::move(violation));
  if (simulation_ != nullptr) simulation_->stop();
}

void World::check(bool holds, std::string property, std::string explanation) {
  if (!holds) fail(std::move(property), std::move(explanation));
}

bool World::safeguard(std::string_view name) {
  require_not_run("safeguard");
  if (environment_.safeguards != nullptr) environment_.safeguards->emplace(name);
  return !environment_.scenario.is_switched_off(name);
}

void World::note(const fabric::Host& host, std::string_view text) {
  if (listener() != nullptr) listener()->on_note(host.name(), text);
}

void World::name(std::uint64_t offset, std::uint64_t length_bytes, std::string name) {
  environment_.names.add_range(offset, length_bytes, std::move(name));
}

void World::describe_words(std::function<std::string(std::uint64_t)> describe) {
  environment_.names.describe_words(std::move(describe));
}

sim::Simulation& World::simulation() {
  if (simulation_ == nullptr) {
    throw std::logic_error("World::simulation was called while the world was not running");
  }
  return *simulation_;
}

explorer::Run World::take_run() {
  if (!has_run_) {
    throw std::logic_error(
        "the test body returned without a call of World::run; call it at the end of the body");
  }
  return std::move(run_);
}

}  // namespace falafel::check
