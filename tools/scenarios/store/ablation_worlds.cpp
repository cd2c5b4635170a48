#include "tools/scenarios/store/ablation_worlds.h"

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "engine/safeguards.h"
#include "fabric/time_units.h"
#include "tools/scenarios/store/small_world_builder.h"

namespace falafel::store_scenario {
namespace {

using Builder = SmallWorldBuilder;
using engine::Safeguards;

// A deleted entry precedes the entry of the present key, and a cleanup moves the latter there.
Builder make_chain_with_deleted_entry() {
  Builder builder;
  builder.prepare_set(0, Builder::deleted_key);
  builder.prepare_set(0, Builder::present_key);
  builder.prepare_delete(0, Builder::deleted_key);
  builder.clean_up();
  return builder;
}

Scenario insertion_beside_cleanup() {
  Builder builder = make_chain_with_deleted_entry();
  builder.add_client({builder.set(Builder::absent_key)});
  return builder.scenario();
}

// The server dies in the middle of the cleanup. The client has its region before that.
Builder make_restart_beside_cleanup() {
  Builder builder = make_chain_with_deleted_entry();
  builder.restart_server();
  builder.take_turns();
  return builder;
}

Scenario insertion_beside_restart() {
  Builder builder = make_restart_beside_cleanup();
  builder.add_client({builder.set(Builder::absent_key)});
  return builder.scenario();
}

Scenario deletion_beside_restart() {
  Builder builder = make_restart_beside_cleanup();
  builder.swap_by_device();
  builder.add_client({builder.remove(Builder::present_key)});
  return builder.scenario();
}

// The client reads one entry after the other.
Scenario search_beside_cleanup() {
  Builder builder = make_chain_with_deleted_entry();
  builder.add_client({builder.get(Builder::present_key)});
  builder.scenario().readahead.chunk_entries = 1;
  return builder.scenario();
}

// The server collects a block with the present key.
void collect_block(Builder& builder, std::uint32_t storing_clients) {
  builder.use_blocks(engine::fewest_blocks + storing_clients);
  builder.collect_block_with(Builder::present_key);
}

Builder make_deletion_beside_swaps() {
  Builder builder;
  builder.free_at_once();
  builder.swap_by_device();
  builder.add_client({builder.remove(Builder::present_key)});
  return builder;
}

Scenario deletion_beside_collection() {
  Builder builder = make_deletion_beside_swaps();
  builder.collect_region_with(Builder::present_key);
  return builder.scenario();
}

Scenario deletion_beside_block_collection() {
  Builder builder = make_deletion_beside_swaps();
  collect_block(builder, 0);
  return builder.scenario();
}

// The collected container is that of the entry that the cleanup moves.
Builder make_collected_chain() {
  Builder builder;
  builder.take_turns();
  builder.free_at_once();
  builder.swap_by_device();
  builder.add_client({});
  builder.prepare_set(0, Builder::deleted_key);
  return builder;
}

Scenario clean_up_after_pause(Builder& builder) {
  std::vector<PreparedOperation>& prepared = builder.scenario().stage->prepared;
  PreparedOperation deletion;
  deletion.at_ns = prepared.back().at_ns;
  deletion.operation = builder.remove(Builder::deleted_key);
  prepared.push_back(deletion);
  builder.clean_up();
  return builder.scenario();
}

Scenario collection_beside_cleanup() {
  Builder builder = make_collected_chain();
  builder.collect_region_with(Builder::present_key);
  return clean_up_after_pause(builder);
}

Scenario block_collection_beside_cleanup() {
  Builder builder = make_collected_chain();
  collect_block(builder, 1);
  return clean_up_after_pause(builder);
}

// The books are judged when the client changes its entry.
Scenario insertion_beside_block_collection() {
  Builder builder;
  builder.free_at_once();
  builder.swap_by_device();
  builder.add_client({builder.set(Builder::absent_key)});
  builder.prepare_set(0, Builder::other_key);
  collect_block(builder, 1);
  return builder.scenario();
}

// The only region is full. Its owner has released it and requested another one, which is the same
// region once the server has collected it. A SET of this key waits for it. The container of the
// present key is the first one there, and half of the region remains free, so that the owner does
// not request another one early.
Builder make_only_region(Builder::Size size, std::uint32_t key) {
  size.region_count = 1;
  size.containers_of_region = 2;
  Builder builder(size);
  builder.take_turns();
  const std::uint32_t owner = builder.add_client({});
  builder.prepare_set(owner, Builder::present_key);
  builder.prepare_set(owner, Builder::other_key);
  builder.pause_server();
  builder.prepare_set(owner, key);
  return builder;
}

Scenario gets_beside_reuse() {
  Builder builder = make_only_region({}, Builder::present_key);
  builder.add_client({builder.get(Builder::present_key), builder.get(Builder::present_key)});
  return builder.scenario();
}

// Containers have several packets, so a READ can see the parts of two containers. Without epoch
// reclamation, because with it no container changes while a client may read it.
Scenario torn_get_beside_reuse() {
  constexpr std::uint32_t longer_than_packet_bytes = 300;
  Builder builder =
      make_only_region({.value_bytes = longer_than_packet_bytes}, Builder::present_key);
  builder.scenario().simulation.mtu_bytes = 256;
  builder.scenario().stage->prepared.front().operation.value_bytes -= 16;
  builder.scenario().safeguards.epoch_reclamation = false;
  builder.add_client({builder.get(Builder::present_key)});
  return builder.scenario();
}

Scenario get_beside_reuse() {
  Builder builder = make_only_region({}, Builder::absent_key);
  builder.free_at_once();
  builder.swap_by_device();
  builder.add_client({builder.get(Builder::present_key)});
  return builder.scenario();
}

// One SET takes the last container of the region, the other one finds the region full.
Scenario sets_of_one_client() {
  Builder builder;
  builder.take_turns();
  builder.free_at_once();
  builder.prepare_set(0, Builder::present_key);
  builder.fill_region(0, Builder::usual_containers - 1);
  builder.add_client({builder.set(Builder::present_key), builder.set(Builder::absent_key)}, 2);
  return builder.scenario();
}

// Both want the same empty slot.
Scenario insertions() {
  Builder builder;
  builder.prepare_set(0, Builder::other_key);
  builder.prepare_set(1, Builder::other_key);
  builder.add_client({builder.set(Builder::absent_key)});
  builder.add_client({builder.set(Builder::deleted_key)});
  return builder.scenario();
}

// One fiber of the client inserts a key while another one disconnects. The client's region has one
// container, which the server collects.
Scenario insertion_beside_goodbye() {
  Builder builder;
  builder.take_turns();
  builder.free_at_once();
  builder.swap_by_device();
  PlannedOperation after_goodbye = builder.get(Builder::other_key);
  after_goodbye.goodbye = true;
  builder.add_client({builder.set(Builder::absent_key), after_goodbye}, 2);
  builder.prepare_set(0, Builder::other_key);
  return builder.scenario();
}

// A client pauses while it inserts a key. Meanwhile, the other client stores the key and deletes
// it, and a cleanup empties its entry, again and again until the tag is the same.
Scenario insertion_beside_wrapping_tag() {
  using fabric::millisecond_ns;
  constexpr std::uint64_t pace_ns = 10 * millisecond_ns;
  Builder builder;
  Scenario& scenario = builder.scenario();
  scenario.geometry.tag_bits = 2;
  scenario.heartbeat_timeout_ns = 3 * millisecond_ns;
  scenario.cleanup_percent = 0;
  scenario.cleanup_interval_ns = pace_ns / 2;
  builder.add_client({builder.set(Builder::absent_key)});
  std::vector<PlannedOperation> changes;
  for (int round = 0; round < 2; ++round) {
    changes.push_back(builder.set(Builder::absent_key));
    changes.push_back(builder.remove(Builder::absent_key));
  }
  for (PlannedOperation& change : changes) change.pause_ns = pace_ns;
  builder.add_client(changes);
  builder.prepare_set(0, Builder::other_key);
  builder.prepare_set(1, Builder::other_key);
  builder.pause_client(0, 8 * pace_ns);
  return scenario;
}

// A client has read the key, whose container was the only one of its region. The owner has since
// overwritten the key: the server has moved the container, which changed the tag once, and granted
// the region again, and the SET has changed the only bit of the tag once more.
Scenario delete_of_remembered_entry() {
  Builder builder({.containers_of_region = 1, .region_count = 1});
  Scenario& scenario = builder.scenario();
  scenario.geometry.tag_bits = 1;
  builder.cache_locations();
  scenario.location_cache.trust_ns = 1'000;
  const std::uint32_t owner = builder.add_client({});
  const std::uint32_t reader = builder.add_client({builder.remove(Builder::present_key)});
  builder.prepare_set(owner, Builder::present_key);
  builder.prepare_get(reader, Builder::present_key);
  builder.prepare_set(owner, Builder::present_key);
  return scenario;
}

// The clock of the first client is so far ahead of that of the second one, which stored the value,
// that it finds the value expired at once. The second one finds it for a while.
Scenario gets_of_an_expiring_value() {
  using fabric::millisecond_ns;
  Builder builder;
  Scenario& scenario = builder.scenario();
  scenario.geometry.values_expire = true;
  scenario.wall_clock_error_ns = millisecond_ns;
  builder.add_client({builder.get(Builder::present_key)});
  const std::uint32_t owner = builder.add_client({builder.get(Builder::present_key)});
  builder.prepare_set(owner, Builder::present_key);
  scenario.stage->prepared.back().operation.time_to_live_ns = millisecond_ns;
  return scenario;
}

Scenario set_beside_growth(std::uint32_t key) {
  Builder builder;
  builder.free_at_once();
  builder.add_client({builder.set(key)});
  builder.prepare_set(0, Builder::other_key);
  builder.grow_table_with(Builder::present_key);
  return builder.scenario();
}

Scenario insertion_beside_growth() { return set_beside_growth(Builder::absent_key); }

Scenario overwriting_beside_growth() { return set_beside_growth(Builder::present_key); }

Scenario search_in_full_table() {
  Builder builder({.table_entries = 1});
  builder.prepare_set(0, Builder::present_key);
  builder.add_client({builder.get(Builder::absent_key)});
  return builder.scenario();
}

struct AblationWorld {
  std::string safeguard;
  std::string name;
  Scenario (*make)();
};

const std::array worlds{
    AblationWorld{"epoch-reclamation", "two GETs beside the reuse of a region", gets_beside_reuse},
    AblationWorld{"double-collect", "GET beside a cleanup", search_beside_cleanup},
    AblationWorld{"collector-retry", "DELETE beside a collection", deletion_beside_collection},
    AblationWorld{"collector-retry", "DELETE beside the collection of a block",
                  deletion_beside_block_collection},
    AblationWorld{"exclusion", "a collection beside a cleanup", collection_beside_cleanup},
    AblationWorld{"exclusion", "the collection of a block beside a cleanup",
                  block_collection_beside_cleanup},
    AblationWorld{"fence-before-reclaim", "SET of a client that disconnects",
                  insertion_beside_goodbye},
    AblationWorld{"release-after-completion", "two SETs of one client", sets_of_one_client},
    AblationWorld{"drain-before-free", "GET beside the reuse of a region", get_beside_reuse},
    AblationWorld{"drain-before-free", "SET of a new key beside the collection of a block",
                  insertion_beside_block_collection},
    AblationWorld{"tag-discipline", "SET of a new key beside a cleanup", insertion_beside_cleanup},
    AblationWorld{"terminator-lock", "SET of a new key beside a cleanup", insertion_beside_cleanup},
    AblationWorld{"restart-after-lost-compare-and-swap", "SETs of two new keys", insertions},
    AblationWorld{"crc-verification", "long GET beside the reuse of a region",
                  torn_get_beside_reuse},
    AblationWorld{"bounded-walks", "GET of an absent key in a full table", search_in_full_table},
    AblationWorld{"heartbeats", "SET beside changes that wrap the tag around",
                  insertion_beside_wrapping_tag},
    AblationWorld{"location-expiry", "DELETE of an entry that was remembered too long",
                  delete_of_remembered_entry},
    AblationWorld{"expired-removal", "two GETs of a value that expires", gets_of_an_expiring_value},
    AblationWorld{"freeze-empty-slots", "SET of a new key while the table grows",
                  insertion_beside_growth},
    AblationWorld{"moved-entry-removal", "SET of a new key beside a cleanup and a restart",
                  insertion_beside_restart},
    AblationWorld{"unlock-before-forgetting", "DELETE beside a cleanup and a restart",
                  deletion_beside_restart},
    AblationWorld{"lock-before-move", "SET of a present key while the table grows",
                  overwriting_beside_growth},
};

}  // namespace

std::vector<explorer::SmallAblation> all_ablation_worlds() {
  std::vector<explorer::SmallAblation> ablations;
  for (const AblationWorld& world : worlds) {
    const Scenario scenario = world.make();
    auto without = std::make_shared<Scenario>(scenario);
    for (const auto& safeguard : engine::safeguard_descriptions) {
      if (safeguard.name == world.safeguard) without->safeguards.*safeguard.enabled = false;
    }
    explorer::SmallAblation ablation;
    ablation.safeguard = world.safeguard;
    ablation.world = make_world(world.name, scenario);
    ablation.without_safeguard = std::move(without);
    ablations.push_back(std::move(ablation));
  }
  return ablations;
}

}  // namespace falafel::store_scenario
