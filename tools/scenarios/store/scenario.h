// A scenario consists of a store, its clients, their planned operations, and the network. Together
// with a schedule (the answers to the simulator's questions), it is a run that can be repeated
// exactly.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <tl/expected.hpp>
#include <utility>
#include <vector>

#include "engine/client/client.h"
#include "engine/layout/geometry.h"
#include "engine/layout/key_hash.h"
#include "engine/layout/pinned.h"
#include "engine/safeguards.h"
#include "engine/server/server.h"
#include "explorer/program.h"
#include "fabric/sim/options/options.h"

namespace falafel::store_scenario {

enum class OperationKind : std::uint8_t {
  get,
  set,
  remove,
  scan,
  update,        // a get, and then a compare-and-set that expects what it found
  wait_for_end,  // of all operations that have begun
};

std::string_view to_string(OperationKind kind);
// Returns whether operations of this kind have a value.
constexpr bool has_value(OperationKind kind) {
  return kind == OperationKind::set || kind == OperationKind::update;
}

// Returns whether operations of this kind have a key, and may be part of a batch.
constexpr bool has_key(OperationKind kind) {
  return kind != OperationKind::scan && kind != OperationKind::wait_for_end;
}

// The base for sizes in random scenarios: "key 0", and a value that names its client and operation.
inline constexpr std::uint32_t usual_key_bytes = 5;
inline constexpr std::uint32_t usual_value_bytes = 8;

struct PlannedOperation {
  OperationKind kind = OperationKind::get;
  std::uint32_t key = 0;  // "key 0", ...
  // set, update: the value names client and operation if it is long enough
  std::uint32_t value_bytes = 0;
  std::uint64_t pause_ns = 0;  // before the operation
  // Before the operation, the client disconnects regardless of its other operations, and
  // reconnects.
  bool goodbye = false;
  // The fiber is cancelled this long after the call if the operation is still pending; 0: never.
  std::uint64_t cancel_after_ns = 0;
  // set, in a cache; 0: the value does not expire; engine::pinned_time_to_live_ns: it is pinned
  std::uint64_t time_to_live_ns = 0;

  bool pins() const { return time_to_live_ns == engine::pinned_time_to_live_ns; }

  friend bool operator==(const PlannedOperation&, const PlannedOperation&) = default;
};

struct ClientPlan {
  std::uint32_t fibers = 1;  // number of operations in flight; fibers take the operations in turn
  // The number of operations that a fiber takes at a time and executes as one batch. The pause and
  // the cancellation of the first one concern the whole batch, and a goodbye begins a new batch.
  // Operations without a key are no part of a batch. 1: no batches.
  std::uint32_t batch = 1;
  // SETs in a row are one call of set_many(), of as many as a batch has, and a batch has either
  // SETs or none. There is only one fiber then.
  bool sets_many = false;
  std::vector<PlannedOperation> operations;

  friend bool operator==(const ClientPlan&, const ClientPlan&) = default;
};

// A cleanup that the server's program requests (Server::clean_up), in addition to periodic ones.
struct PlannedCleanup {
  std::uint64_t pause_ns = 0;         // since the start or since the previous cleanup
  std::uint64_t cancel_after_ns = 0;  // as for operations

  friend bool operator==(const PlannedCleanup&, const PlannedCleanup&) = default;
};

// An operation that a client executes before the plans begin.
struct PreparedOperation {
  std::uint32_t client = 0;
  std::uint64_t at_ns = 0;
  PlannedOperation operation;  // only kind, key and value_bytes

  friend bool operator==(const PreparedOperation&, const PreparedOperation&) = default;
};

// The fibers of a client pause; its device continues. The explorer tries all steps from that time
// on, until the clock advances.
struct PlannedPause {
  std::uint32_t client = 0;
  std::uint64_t at_ns = 0;
  std::uint64_t duration_ns = 0;

  friend bool operator==(const PlannedPause&, const PlannedPause&) = default;
};

// Separates the interesting part of a run from what precedes and follows it, so that the explorer
// can explore that part alone. Before `begin_ns`, the clients connect and execute the prepared
// operations, in the order of their times. They execute their plans from then on, and disconnect
// at `end_ns`.
struct Stage {
  std::uint64_t begin_ns = 0;
  std::uint64_t end_ns = 0;
  // From this time until the beginning, the server's fibers pause. Messages that clients send
  // meanwhile arrive at the beginning. 0: they do not pause.
  std::uint64_t server_pauses_at_ns = 0;
  std::vector<PreparedOperation> prepared{};
  std::vector<PlannedPause> pauses{};

  friend bool operator==(const Stage&, const Stage&) = default;
};

// An action of a hostile client (hostile_party.h). `number` is a parameter whose meaning depends on
// the kind.
enum class AttackKind : std::uint8_t {
  // Messages.
  odd_length,        // of another length than messages have
  unknown_kind,      // of a kind that no client sends
  foreign_release,   // releases a region that it does not hold
  repeated_release,  // releases the same region twice
  future_epoch,      // answers a question that nobody asked
  repeated_request,  // requests again before the answer
  flood,             // sends many messages, and receives none
  greed,             // requests all regions, and keeps them
  // Words of the table.
  flag_entry,   // gives an entry other flags: locks, deletes or revives it
  empty_entry,  // empties an entry, possibly with flags
  flip_entry,   // changes an entry many times
  // Words that point to other containers.
  point_entry,      // any offset: its own region, another entry's container, beyond the chunk
  lying_container,  // a container of its own with wrong lengths and valid checksums
  // Tricks (trick_worlds.h).
  evasion,           // sends heartbeats, but answers no question
  stolen_release,    // releases a region that another client holds
  late_write,        // writes to a region after the server has handled its release
  broken_chain,      // empties an entry and locks one behind it
  shared_container,  // points several entries to a container that fills its region
  all_credits,       // receives nothing, and sends until the server expels it
};
inline constexpr std::size_t attack_kind_count = 19;
std::string_view to_string(AttackKind kind);

struct PlannedAttack {
  AttackKind kind = AttackKind::odd_length;
  std::uint64_t slot = 0;  // of the table, for words
  std::uint64_t number = 0;
  std::uint64_t pause_ns = 0;  // before it

  friend bool operator==(const PlannedAttack&, const PlannedAttack&) = default;
};

struct Scenario final : explorer::Scenario {
  engine::Safeguards safeguards = engine::Safeguards::hardened();
  engine::Geometry geometry{};
  engine::HashKey hash_key{};
  std::uint32_t max_clients = 0;  // connected at the same time; 0: no limit
  std::uint64_t heartbeat_timeout_ns = 10'000'000'000;
  std::uint64_t flush_timeout_ns = 5'000'000'000;
  bool destruction_drains = false;  // of the server's device
  // The default is longer than faults and fences last, so an operation times out only if it would
  // never complete.
  std::uint64_t server_timeout_ns = 1'000'000'000;
  std::uint32_t cleanup_percent = 0;
  std::uint64_t cleanup_interval_ns = 100'000;
  std::uint32_t pipelined_updates = 4;
  engine::Collection collection = engine::Collection::scan_memory;
  bool asks_for_regions_back = true;
  bool keeps_overwrite_reserve = true;
  engine::ReadaheadOptions readahead{};
  engine::LocationCacheOptions location_cache{};
  std::uint32_t renewal_percent = 75;
  bool evicts = false;  // a cache
  // The server's memory stays when its process dies, and the next process starts over it.
  bool keeps_memory = false;
  // The memory grows, and begins with this much (engine::ServerOptions).
  bool memory_grows = false;
  std::uint64_t least_held_bytes = 0;
  // The entries at the start of a new table that have no key and are deleted, as a recovery or a
  // repair leaves them.
  std::uint32_t keyless_entries = 0;
  bool clients_hear_close = false;  // engine::ClientOptions::hears_server_close
  // The wall clocks of clients are alternately ahead of the server's and behind it by this time.
  std::uint64_t wall_clock_error_ns = 0;
  std::vector<PlannedCleanup> cleanups;
  std::optional<Stage> stage;  // random scenarios have none
  std::vector<ClientPlan> clients;
  std::vector<PlannedAttack> attacks;  // of one more client, which exists only if there are any

  std::uint64_t operation_count() const;

  std::unique_ptr<explorer::Scenario> clone() const override;
  nlohmann::json to_json() const override;
  std::string describe() const override;
  std::string size() const override;
  bool simplify(explorer::Simplifier& simplifier) const override;
};

// Returns the scenario or an error message; any JSON is allowed.
tl::expected<Scenario, std::string> parse_scenario(const nlohmann::json& json);

// Converts the interface to the store's scenario; StoreProgram creates no others.
const Scenario& store_scenario(const explorer::Scenario& scenario);

// The share of special scenarios among the random ones.
enum class Share : std::uint8_t { none, some, only };

// Fixed choices; everything else is random.
struct ScenarioChoices {
  engine::Safeguards safeguards = engine::Safeguards::hardened();
  std::optional<std::uint32_t> clients;
  std::optional<std::uint32_t> operations;  // per client
  std::optional<std::uint32_t> in_flight;   // per client, at the same time
  std::optional<std::uint64_t> slots;
  std::optional<std::uint32_t> keys;
  std::optional<std::uint32_t> location_cache_entries;  // of each client; 0: no cache
  engine::SpareBits reference_bits;                     // at most as many as the chunk leaves
  std::string workload;  // "uniform", "ycsb-a" .. "ycsb-f", "thesis"; empty: random
  std::optional<sim::StrategyKind> strategy;
  // The kinds that may occur; nullopt: the seed decides.
  std::optional<std::vector<sim::FaultKind>> faults;
  // Scenarios in which tags wrap around (tag_world.h). They require random scheduling and are
  // omitted where an option fixes something that they need.
  Share tag_worlds = Share::some;
  Share blocks = Share::some;  // instead of semi-spaces
  // Scenarios with a hostile client (hostile_worlds.h). `some`: only if all safeguards are on.
  Share hostile = Share::some;
  // Scenarios in which the store is a cache (cache_worlds.h). If the safeguard is off that only
  // caches need, all scenarios are.
  Share caches = Share::none;
  // Scenarios in which the server restarts over its memory (warm_restarts.h).
  Share warm_restarts = Share::none;
  // Scenarios in which the table grows (growth_worlds.h). If a safeguard is off that only these
  // need, all scenarios are.
  Share growth = Share::none;
  // Scenarios in which the memory grows (memory_growth_worlds.h).
  Share memory_growth = Share::none;
  // Scenarios in which clients scan all keys (scan_worlds.h). Only if all safeguards are on.
  Share scans = Share::none;
  // Scenarios in which SETs depend on the value that the key has (update_worlds.h).
  Share updates = Share::none;
  // Scenarios in which clients hear that the server has closed their connection.
  Share heard_closes = Share::none;
  // Scenarios in which clients wait for the end of all operations (end_worlds.h). Only if all
  // safeguards are on.
  Share ends = Share::none;
  // Scenarios in which clients store several values with one call (set_many_worlds.h). Only if all
  // safeguards are on.
  Share set_many = Share::none;
  // Scenarios with a hostile client that plays tricks (trick_worlds.h). Only if all safeguards are
  // on.
  Share tricks = Share::none;
  // Scenarios in which the cleanup moves keys all the time (move_worlds.h). Only if all safeguards
  // are on.
  Share moves = Share::none;
  // Valid options of the simulator by name and value (sim::set_option), regardless of the seed.
  std::vector<std::pair<std::string, std::string>> simulator_options;
};
inline constexpr std::array workload_names{"uniform", "ycsb-a", "ycsb-b", "ycsb-c",
                                           "ycsb-d",  "ycsb-e", "ycsb-f", "thesis"};

// Swarm testing: generates a small scenario from the seed. It has a table of a few entries, regions
// of one or two containers, colliding keys, and bursts of operations with long pauses of single
// clients in between. Conditions that are rare in an average scenario are common in one of these.
Scenario draw_scenario(const ScenarioChoices& choices, std::uint64_t seed);

}  // namespace falafel::store_scenario
