// A scenario: a store, its clients, what each of them does, and the network it happens on. With a schedule
// (the answers to the simulator's questions) it is a run that can be repeated bit for bit.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <tl/expected.hpp>
#include <utility>
#include <vector>

#include "engine/client/client.h"
#include "engine/layout/geometry.h"
#include "engine/layout/key_hash.h"
#include "engine/safeguards.h"
#include "engine/server/server.h"
#include "explorer/program.h"
#include "fabric/sim/options/options.h"

namespace falafel::store_scenario {

enum class OperationKind : std::uint8_t { get, set, remove };

std::string_view to_string(OperationKind kind);

// What drawn worlds are measured by: "key 0", and a value that names its client and operation.
inline constexpr std::uint32_t usual_key_bytes = 5;
inline constexpr std::uint32_t usual_value_bytes = 8;

struct PlannedOperation {
  OperationKind kind = OperationKind::get;
  std::uint32_t key = 0;  // "key 0", ...
  std::uint32_t value_bytes =
      0;  // set; the value names client and operation, as far as it is long enough
  std::uint64_t pause_ns = 0;  // before it
  // Before it the client says goodbye, whatever else it is doing, and connects again.
  bool goodbye = false;
  // So long after the call its fiber is cancelled, if it is still in it; 0: never.
  std::uint64_t cancel_after_ns = 0;

  friend bool operator==(const PlannedOperation&, const PlannedOperation&) = default;
};

struct ClientPlan {
  std::uint32_t fibers = 1;  // operations in flight; they take the operations in turn
  std::vector<PlannedOperation> operations;

  friend bool operator==(const ClientPlan&, const ClientPlan&) = default;
};

// A cleanup that the server's program asks for (Server::clean_up), beside those that are due.
struct PlannedCleanup {
  std::uint64_t pause_ns = 0;         // before it, from the start or from the one before
  std::uint64_t cancel_after_ns = 0;  // as of operations

  friend bool operator==(const PlannedCleanup&, const PlannedCleanup&) = default;
};

struct Scenario final : explorer::Scenario {
  engine::Safeguards safeguards = engine::Safeguards::hardened();
  engine::Geometry geometry{};
  engine::HashKey hash_key{};
  std::uint32_t max_clients = 0;  // connected at the same time; 0: all that come
  std::uint64_t heartbeat_timeout_ns = 10'000'000'000;
  std::uint64_t flush_timeout_ns = 5'000'000'000;
  // The default is longer than faults and fences last: no operation times out unless something never ends.
  std::uint64_t server_timeout_ns = 1'000'000'000;
  std::uint32_t cleanup_percent = 0;
  std::uint64_t cleanup_interval_ns = 100'000;
  std::uint32_t pipelined_updates = 4;
  engine::Collection collection = engine::Collection::scan_memory;
  bool asks_for_regions_back = true;
  bool keeps_overwrite_reserve = true;
  engine::ReadaheadOptions readahead{};
  std::uint32_t renewal_percent = 75;
  std::vector<PlannedCleanup> cleanups;
  std::vector<ClientPlan> clients;

  std::uint64_t operation_count() const;

  std::unique_ptr<explorer::Scenario> clone() const override;
  nlohmann::json to_json() const override;
  std::string describe() const override;
  std::string size() const override;
  bool simplify(explorer::Simplifier& simplifier) const override;
};

// The scenario, or what is wrong: any JSON is allowed.
tl::expected<Scenario, std::string> parse_scenario(const nlohmann::json& json);

// The store's scenario behind the interface: StoreProgram makes no others.
const Scenario& store_scenario(const explorer::Scenario& scenario);

// How many of the drawn worlds are of a special kind.
enum class Share : std::uint8_t { none, some, only };

// What is not drawn.
struct ScenarioChoices {
  engine::Safeguards safeguards = engine::Safeguards::hardened();
  std::optional<std::uint32_t> clients;
  std::optional<std::uint32_t> operations;  // of each client
  std::optional<std::uint32_t> in_flight;   // of each client, at the same time
  std::optional<std::uint64_t> slots;
  std::optional<std::uint32_t> keys;
  std::string workload;  // "uniform", "ycsb-a" .. "ycsb-f", "thesis"; empty: drawn
  std::optional<sim::StrategyKind> strategy;
  // The kinds that may strike; empty: drawn by the seed.
  std::optional<std::vector<sim::FaultKind>> faults;
  // Worlds in which tags come round (tag_world.h). They suppose that who moves next is drawn at random, and
  // are left out where an option fixes what they need.
  Share tag_worlds = Share::some;
  // Options of the simulator by name and value (sim::set_option), whatever the seed draws. Valid ones.
  std::vector<std::pair<std::string, std::string>> simulator_options;
};
inline constexpr std::array workload_names{"uniform", "ycsb-a", "ycsb-b", "ycsb-c",
                                           "ycsb-d",  "ycsb-e", "ycsb-f", "thesis"};

// Swarm testing: a small world drawn from the seed. Tables of a few entries, regions of a container or
// two, keys that collide, operations in bursts with long pauses of single clients between: what is rare
// in an average world is common in one of these.
Scenario draw_scenario(const ScenarioChoices& choices, std::uint64_t seed);

}  // namespace falafel::store_scenario
