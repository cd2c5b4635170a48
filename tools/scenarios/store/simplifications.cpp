// Simplifications of a scenario of the store: fewer clients, fewer operations, and the removal of
// each feature.
#include <functional>
#include <utility>
#include <vector>

#include "engine/layout/entry.h"
#include "explorer/simulation_choices.h"
#include "tools/scenarios/store/scenario.h"
#include "tools/scenarios/store/tag_world.h"

namespace falafel::store_scenario {
namespace {

using Simplification = std::function<void(Scenario&)>;

Simplification for_all_operations(void (*simplify)(PlannedOperation&)) {
  return [simplify](Scenario& scenario) {
    for (ClientPlan& client : scenario.clients) {
      for (PlannedOperation& operation : client.operations) simplify(operation);
    }
  };
}

void add_simulator(std::vector<Simplification>& all) {
  for (auto& simplify : explorer::simulation_simplifications()) {
    all.emplace_back(
        [simplify = std::move(simplify)](Scenario& scenario) { simplify(scenario.simulation); });
  }
}

void add_store(std::vector<Simplification>& all) {
  all.emplace_back([](Scenario& scenario) { scenario.geometry.tag_bits = engine::most_tag_bits; });
  all.emplace_back([](Scenario& scenario) {
    scenario.geometry.fingerprint_bits = 0;
    scenario.geometry.size_class_bits = 0;
  });
  all.emplace_back([](Scenario& scenario) {
    scenario.memory_grows = false;
    scenario.least_held_bytes = 0;
  });
  all.emplace_back([](Scenario& scenario) {
    if (scenario.memory_grows) return;
    engine::Geometry& geometry = scenario.geometry;
    if (geometry.has_blocks()) geometry.mature_bytes *= geometry.mature_space_count;
    geometry.mature_space_count = engine::semi_space_count;
  });
  all.emplace_back([](Scenario& scenario) { scenario.geometry.unit_bytes = 8; });
  all.emplace_back([](Scenario& scenario) { scenario.hash_key = {}; });
  all.emplace_back([](Scenario& scenario) { scenario.evicts = false; });
  all.emplace_back([](Scenario& scenario) { scenario.keeps_memory = false; });
  all.emplace_back([](Scenario& scenario) { scenario.clients_hear_close = false; });
  all.emplace_back([](Scenario& scenario) { scenario.wall_clock_error_ns = 0; });
  all.emplace_back([](Scenario& scenario) { scenario.keyless_entries = 0; });
  all.push_back(
      for_all_operations([](PlannedOperation& operation) { operation.time_to_live_ns = 0; }));
  all.emplace_back([](Scenario& scenario) { scenario.max_clients = 0; });
  all.emplace_back([](Scenario& scenario) {
    scenario.flush_timeout_ns = Scenario{}.flush_timeout_ns;
    scenario.destruction_drains = Scenario{}.destruction_drains;
    scenario.server_timeout_ns = Scenario{}.server_timeout_ns;
  });
  all.emplace_back([](Scenario& scenario) { scenario.pipelined_updates = 1; });
  all.emplace_back(
      [](Scenario& scenario) { scenario.collection = engine::Collection::walk_table; });
  all.emplace_back([](Scenario& scenario) { scenario.asks_for_regions_back = false; });
  all.emplace_back([](Scenario& scenario) { scenario.keeps_overwrite_reserve = false; });
  all.emplace_back([](Scenario& scenario) { scenario.cleanups.clear(); });
  all.emplace_back([](Scenario& scenario) {
    if (!scenario.cleanups.empty()) scenario.cleanups.pop_back();
  });
  all.emplace_back([](Scenario& scenario) {
    for (PlannedCleanup& cleanup : scenario.cleanups) cleanup.cancel_after_ns = 0;
  });
}

void add_clients(std::vector<Simplification>& all) {
  all.emplace_back([](Scenario& scenario) { scenario.location_cache = {}; });
  all.emplace_back([](Scenario& scenario) { scenario.readahead.containers = 1; });
  all.emplace_back([](Scenario& scenario) { scenario.readahead.adaptive = false; });
  all.emplace_back([](Scenario& scenario) { scenario.readahead.container_bytes = 64; });
  all.emplace_back([](Scenario& scenario) { scenario.readahead.validation = true; });
  all.emplace_back([](Scenario& scenario) {
    for (ClientPlan& client : scenario.clients) client.fibers = 1;
  });
  all.emplace_back([](Scenario& scenario) {
    for (ClientPlan& client : scenario.clients) {
      client.batch = 1;
      client.sets_many = false;
    }
  });
  all.push_back(for_all_operations([](PlannedOperation& operation) { operation.pause_ns = 0; }));
  all.push_back(for_all_operations([](PlannedOperation& operation) { operation.goodbye = false; }));
  all.push_back(
      for_all_operations([](PlannedOperation& operation) { operation.cancel_after_ns = 0; }));
  all.emplace_back([](Scenario& scenario) {
    for (PlannedAttack& attack : scenario.attacks) attack.pause_ns = 0;
  });
}

// Each removes one feature. Removing a feature that the scenario does not have costs nothing.
std::vector<Simplification> simplifications() {
  std::vector<Simplification> all;
  add_simulator(all);
  add_store(all);
  add_clients(all);
  return all;
}

// A failure because a tag wrapped around too early is a different failure.
bool attempt(explorer::Simplifier& simplifier, const Simplification& simplify) {
  const Scenario& best = store_scenario(simplifier.best());
  Scenario candidate = best;
  simplify(candidate);
  if (do_tags_outlast_operations(best) && !do_tags_outlast_operations(candidate)) return false;
  return simplifier.attempt(candidate);
}

bool remove_clients(explorer::Simplifier& simplifier) {
  bool simpler = false;
  const auto clients = [&] { return store_scenario(simplifier.best()).clients.size(); };
  for (std::size_t client = clients(); client-- > 0 && !simplifier.is_time_over();) {
    if (clients() == 1) break;
    simpler |= attempt(simplifier, [client](Scenario& scenario) {
      scenario.clients.erase(scenario.clients.begin() + static_cast<std::ptrdiff_t>(client));
    });
  }
  return simpler;
}

bool remove_operations(explorer::Simplifier& simplifier) {
  bool simpler = false;
  const auto best = [&]() -> const Scenario& { return store_scenario(simplifier.best()); };
  for (std::size_t client = 0; client < best().clients.size(); ++client) {
    simpler |= explorer::remove_parts(
        simplifier, [&] { return best().clients[client].operations.size(); },
        [&](std::size_t begin, std::size_t end) {
          return attempt(simplifier, [&](Scenario& scenario) {
            auto& operations = scenario.clients[client].operations;
            operations.erase(operations.begin() + static_cast<std::ptrdiff_t>(begin),
                             operations.begin() + static_cast<std::ptrdiff_t>(end));
          });
        });
  }
  return simpler;
}

bool remove_attacks(explorer::Simplifier& simplifier) {
  const auto best = [&]() -> const Scenario& { return store_scenario(simplifier.best()); };
  return explorer::remove_parts(
      simplifier, [&] { return best().attacks.size(); },
      [&](std::size_t begin, std::size_t end) {
        return attempt(simplifier, [&](Scenario& scenario) {
          auto& attacks = scenario.attacks;
          attacks.erase(attacks.begin() + static_cast<std::ptrdiff_t>(begin),
                        attacks.begin() + static_cast<std::ptrdiff_t>(end));
        });
      });
}

bool simplify_features(explorer::Simplifier& simplifier) {
  bool simpler = false;
  for (const Simplification& simplify : simplifications()) {
    if (simplifier.is_time_over()) break;
    simpler |= attempt(simplifier, simplify);
  }
  return simpler;
}

}  // namespace

bool Scenario::simplify(explorer::Simplifier& simplifier) const {
  const bool fewer_clients = remove_clients(simplifier);
  const bool fewer_attacks = remove_attacks(simplifier);
  const bool fewer_operations = remove_operations(simplifier);
  const bool fewer_features = simplify_features(simplifier);
  return fewer_clients || fewer_attacks || fewer_operations || fewer_features;
}

}  // namespace falafel::store_scenario
