#include "tools/scenarios/store/scan_worlds.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "engine/layout/entry.h"
#include "tools/scenarios/store/keys_of_chain.h"

namespace falafel::store_scenario {
namespace {

// The chunks of a longer table have as many entries as possible, and one client scans it, so that a
// run does not consist of scans.
constexpr std::uint64_t most_entries_of_short_table = 16;
constexpr std::uint64_t most_chunk_entries = 4;

void make_scan(PlannedOperation& operation) {
  operation = {.kind = OperationKind::scan,
               .pause_ns = operation.pause_ns,
               .goodbye = operation.goodbye,
               .cancel_after_ns = operation.cancel_after_ns};
}

void add_scans_of(fabric::RandomGenerator& random, ClientPlan& client) {
  constexpr std::uint64_t operations_per_scan = 4;
  const std::uint64_t certain = random.below(client.operations.size());
  for (std::uint64_t index = 0; index < client.operations.size(); ++index) {
    const bool is_scan = random.below(operations_per_scan) == 0;
    if (is_scan || index == certain) make_scan(client.operations[index]);
  }
}

// Other keys come and go, and the cleanup moves this one.
void keep_key(std::uint32_t key, Scenario& scenario) {
  for (ClientPlan& client : scenario.clients) {
    for (PlannedOperation& operation : client.operations) {
      const bool removes = operation.kind == OperationKind::remove && operation.key == key;
      if (removes) operation.kind = OperationKind::get;
    }
  }
}

// Keys move while scans read the table: clients remove more of them, and the server's program
// requests cleanups all the time.
void hurry_cleanups(fabric::RandomGenerator& random, Scenario& scenario) {
  for (ClientPlan& client : scenario.clients) {
    for (PlannedOperation& operation : client.operations) {
      const bool removes = random.below(2) == 0 && operation.kind == OperationKind::get;
      if (removes) operation.kind = OperationKind::remove;
    }
  }
  const std::uint64_t cleanups = 8 + random.below(25);
  for (std::uint64_t index = 0; index < cleanups; ++index) {
    scenario.cleanups.push_back(
        {.pause_ns = scenario.simulation.step_duration_ns << random.below(7)});
  }
}

// The client fills a chain and then removes all of its keys but the last one, which the cleanup
// moves to the front. In the next round, the chain continues behind that key.
void move_keys(std::vector<std::uint32_t> keys, ClientPlan& client) {
  constexpr std::uint64_t rounds = 4;
  constexpr std::uint32_t short_bytes = 4;  // leaves room for long keys
  client = {};
  for (std::uint64_t round = 0; round < rounds; ++round) {
    for (std::size_t index = round == 0 ? 0 : 1; index < keys.size(); ++index) {
      client.operations.push_back(
          {.kind = OperationKind::set, .key = keys[index], .value_bytes = short_bytes});
    }
    for (std::size_t index = 0; index + 1 < keys.size(); ++index) {
      client.operations.push_back({.kind = OperationKind::remove, .key = keys[index]});
    }
    std::ranges::rotate(keys, keys.end() - 1);
  }
}

bool may_move_keys(const Scenario& scenario) {
  return scenario.clients.size() > 1 && scenario.attacks.empty() &&
         scenario.geometry.tag_bits == engine::most_tag_bits && scenario.geometry.table_entries > 2;
}

std::vector<std::uint32_t> stored_keys(const Scenario& scenario) {
  std::vector<std::uint32_t> keys;
  for (const ClientPlan& client : scenario.clients) {
    for (const PlannedOperation& operation : client.operations) {
      if (operation.kind == OperationKind::set) keys.push_back(operation.key);
    }
  }
  return keys;
}

}  // namespace

void add_scans(fabric::RandomGenerator& random, Scenario& scenario) {
  const bool is_short = scenario.geometry.slot_count() <= most_entries_of_short_table;
  const std::uint64_t chunk_entries = 1 + random.below(most_chunk_entries);
  scenario.readahead.chunk_entries =
      static_cast<std::uint32_t>(is_short ? chunk_entries : most_chunk_entries);
  if (random.below(2) == 0) scenario.cleanup_percent = 0;
  const bool keeps_key = random.below(2) == 0;
  const bool moves_keys = random.below(2) == 0 && may_move_keys(scenario);
  const std::uint64_t first = moves_keys ? 1 : 0;
  const std::uint64_t certain = first + random.below(scenario.clients.size() - first);
  for (std::uint64_t index = first; index < scenario.clients.size(); ++index) {
    const bool scans = random.below(2) == 0 && is_short;
    if (scans || index == certain) add_scans_of(random, scenario.clients[index]);
  }
  if (random.below(2) == 0) hurry_cleanups(random, scenario);
  const std::vector<std::uint32_t> keys = stored_keys(scenario);
  if (keeps_key && !keys.empty()) keep_key(keys[random.below(keys.size())], scenario);
  if (!moves_keys) return;
  const std::uint64_t most_keys = std::min<std::uint64_t>(scenario.geometry.table_entries - 1, 5);
  move_keys(keys_with_home(home_of(0, scenario), 2 + random.below(most_keys - 1), scenario),
            scenario.clients.front());
}

}  // namespace falafel::store_scenario
