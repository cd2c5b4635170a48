#include "tools/scenarios/store/variations.h"

#include <algorithm>
#include <initializer_list>

#include "engine/layout/container.h"

namespace falafel::store_scenario {
namespace {

class Variation {
 public:
  Variation(const ScenarioChoices& choices, fabric::RandomGenerator& random, Scenario& scenario)
      : choices_(choices), random_(random), scenario_(scenario) {}

  void run();

 private:
  std::uint64_t below(std::uint64_t bound) { return random_.below(bound); }
  bool one_in(std::uint64_t count) { return below(count) == 0; }
  std::uint64_t one_of(std::initializer_list<std::uint64_t> values) {
    return values.begin()[below(values.size())];
  }
  // Between one step and some hundreds, uniformly over the orders of magnitude.
  std::uint64_t some_steps_ns() { return scenario_.simulation.step_duration_ns << below(9); }

  void draw_readahead();
  void enlarge_table();
  void add_clients();
  void draw_goodbyes();
  void draw_cancellations();
  void draw_cleanups();
  void draw_timeouts();

  const ScenarioChoices& choices_;
  fabric::RandomGenerator& random_;
  Scenario& scenario_;
};

void Variation::draw_readahead() {
  engine::ReadaheadOptions& readahead = scenario_.readahead;
  readahead.validation = one_in(2);
  if (one_in(4)) {
    const std::uint64_t containers = 5 + below(4);
    readahead.containers = static_cast<std::uint32_t>(containers);
  }
  if (one_in(4)) {
    readahead.container_bytes = static_cast<std::uint32_t>(one_of({128, 512, 1'024}));
  }
}

// Adds keys for the larger table, and memory for the keys.
void Variation::enlarge_table() {
  engine::Geometry& geometry = scenario_.geometry;
  const std::uint64_t entries = one_of({24, 40, 64, 100});
  std::uint32_t value_bytes = usual_value_bytes;
  for (const ClientPlan& client : scenario_.clients) {
    for (const PlannedOperation& operation : client.operations) {
      value_bytes = std::max(value_bytes, operation.value_bytes);
    }
  }
  const std::uint64_t container = geometry.round_up_to_unit(
      engine::container_bytes(usual_key_bytes + 1, value_bytes));  // "key 10"
  geometry.mature_bytes += (entries - geometry.table_entries) * container;
  geometry.table_entries = entries;
  const std::uint64_t keys = choices_.keys.value_or(entries / 2 + below(entries / 2));
  for (ClientPlan& client : scenario_.clients) {
    for (PlannedOperation& operation : client.operations) {
      operation.key = static_cast<std::uint32_t>(below(keys));
      // A longer key leaves less room.
      operation.value_bytes -= std::min(operation.value_bytes, 1U);
    }
  }
}

// Splits the work among more clients, so that the run does not become much longer.
void Variation::add_clients() {
  const std::uint64_t clients = 5 + below(4);
  const std::size_t before = scenario_.clients.size();
  while (scenario_.clients.size() < clients) {
    scenario_.clients.push_back(scenario_.clients[below(before)]);
  }
  constexpr std::size_t most_of_each = 4;
  if (choices_.operations) return;
  for (ClientPlan& client : scenario_.clients) {
    if (client.operations.size() <= most_of_each) continue;
    const auto first =
        client.operations.begin() +
        static_cast<std::ptrdiff_t>(below(client.operations.size() - most_of_each + 1));
    client.operations = {first, first + most_of_each};
  }
}

void Variation::draw_goodbyes() {
  for (ClientPlan& client : scenario_.clients) {
    for (std::size_t index = 1; index < client.operations.size(); ++index) {
      client.operations[index].goodbye = one_in(6);
    }
  }
}

void Variation::draw_cancellations() {
  for (ClientPlan& client : scenario_.clients) {
    for (PlannedOperation& operation : client.operations) {
      if (one_in(6)) operation.cancel_after_ns = some_steps_ns();
    }
  }
}

void Variation::draw_cleanups() {
  const std::uint64_t count = 1 + below(4);
  for (std::uint64_t index = 0; index < count; ++index) {
    const std::uint64_t pause_ns = scenario_.simulation.step_duration_ns << below(12);
    scenario_.cleanups.push_back(
        {.pause_ns = pause_ns, .cancel_after_ns = one_in(4) ? 0 : some_steps_ns()});
  }
}

// A run with a stopped server, or with a client whose flush is late, lasts as long as the time-outs
// of the operations that wait. So they are short there.
void Variation::draw_timeouts() {
  const bool may_stop = scenario_.simulation.fault_rate(sim::FaultKind::server_stop) > 0;
  const bool has_short_timeout = may_stop || one_in(16);
  if (has_short_timeout) scenario_.server_timeout_ns = one_of({1'000'000, 10'000'000});
  const bool may_land_late = scenario_.simulation.fault_rate(sim::FaultKind::slow_landing) > 0;
  const bool has_drawn_flush = may_land_late || one_in(4);
  if (has_drawn_flush) scenario_.flush_timeout_ns = one_of({10'000, 1'000'000});
  scenario_.destruction_drains = one_in(4);
}

void Variation::run() {
  for (std::byte& byte : scenario_.hash_key) byte = static_cast<std::byte>(below(256));
  draw_readahead();
  if (one_in(16) && !choices_.slots) enlarge_table();
  if (one_in(16) && !choices_.clients) add_clients();
  if (one_in(8)) {
    scenario_.max_clients = static_cast<std::uint32_t>(1 + below(scenario_.clients.size()));
  }
  if (one_in(4)) draw_goodbyes();
  if (one_in(4)) draw_cancellations();
  if (one_in(4)) draw_cleanups();
  draw_timeouts();
}

}  // namespace

void vary(const ScenarioChoices& choices, fabric::RandomGenerator& random, Scenario& scenario) {
  Variation(choices, random, scenario).run();
}

}  // namespace falafel::store_scenario
