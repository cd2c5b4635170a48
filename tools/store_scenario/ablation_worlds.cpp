#include "tools/store_scenario/ablation_worlds.h"

#include <array>
#include <string>
#include <utility>

#include "engine/safeguards.h"
#include "tools/store_scenario/small_world_builder.h"

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

// The client reads one entry after the other.
Scenario search_beside_cleanup() {
  Builder builder = make_chain_with_deleted_entry();
  builder.add_client({builder.get(Builder::present_key)});
  builder.scenario().readahead.chunk_entries = 1;
  return builder.scenario();
}

Scenario deletion_beside_collection() {
  Builder builder;
  builder.free_at_once();
  builder.swap_by_device();
  builder.add_client({builder.remove(Builder::present_key)});
  builder.collect_region_with(Builder::present_key);
  return builder.scenario();
}

// The collected container is that of the entry that the cleanup moves.
Scenario collection_beside_cleanup() {
  Builder builder;
  builder.free_at_once();
  builder.swap_by_device();
  builder.add_client({});
  builder.prepare_set(0, Builder::deleted_key);
  builder.collect_region_with(Builder::present_key);
  const auto pause = builder.scenario().stage->prepared.size() - 1;
  PreparedOperation deletion;
  deletion.at_ns = builder.scenario().stage->prepared[pause].at_ns;
  deletion.operation = builder.remove(Builder::deleted_key);
  builder.scenario().stage->prepared.push_back(deletion);
  builder.clean_up();
  return builder.scenario();
}

// The only region is full. A SET releases it, and receives it again once it is collected. The
// container of the present key is the first one there.
Builder make_only_region(Builder::Size size) {
  size.region_count = 1;
  Builder builder(size);
  builder.prepare_set(0, Builder::present_key);
  builder.fill_region(0, size.containers_of_region);
  return builder;
}

Scenario gets_beside_reuse() {
  Builder builder = make_only_region({.containers_of_region = 1});
  builder.add_client({builder.set(Builder::present_key)});
  builder.add_client({builder.get(Builder::present_key), builder.get(Builder::present_key)});
  return builder.scenario();
}

// Containers have several packets, so a READ can see the parts of two containers. Without epoch
// reclamation, because with it no container changes while a client may read it.
Scenario torn_get_beside_reuse() {
  constexpr std::uint32_t longer_than_packet_bytes = 300;
  Builder builder =
      make_only_region({.containers_of_region = 1, .value_bytes = longer_than_packet_bytes});
  builder.scenario().simulation.mtu_bytes = 256;
  builder.scenario().stage->prepared.front().operation.value_bytes -= 16;
  builder.scenario().safeguards.epoch_reclamation = false;
  builder.add_client({builder.set(Builder::present_key)});
  builder.add_client({builder.get(Builder::present_key)});
  return builder.scenario();
}

Scenario get_beside_reuse() {
  Builder builder = make_only_region({.containers_of_region = 1});
  builder.free_at_once();
  builder.swap_by_device();
  builder.add_client({builder.set(Builder::absent_key)});
  builder.add_client({builder.get(Builder::present_key)});
  return builder.scenario();
}

// One SET takes the last container of the region, the other one finds the region full.
Scenario sets_of_one_client() {
  Builder builder;
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

// Two safeguards have none. Requests in flight of a client that the server gave up on
// (fence-before-reclaim) and tags that wrap around (heartbeats) need time to pass during an
// operation, which an exploration excludes.
const std::array worlds{
    AblationWorld{"epoch-reclamation", "two GETs beside the reuse of a region", gets_beside_reuse},
    AblationWorld{"double-collect", "GET beside a cleanup", search_beside_cleanup},
    AblationWorld{"collector-retry", "DELETE beside a collection", deletion_beside_collection},
    AblationWorld{"exclusion", "a collection beside a cleanup", collection_beside_cleanup},
    AblationWorld{"release-after-completion", "two SETs of one client", sets_of_one_client},
    AblationWorld{"drain-before-free", "GET beside the reuse of a region", get_beside_reuse},
    AblationWorld{"tag-discipline", "SET of a new key beside a cleanup", insertion_beside_cleanup},
    AblationWorld{"terminator-lock", "SET of a new key beside a cleanup", insertion_beside_cleanup},
    AblationWorld{"restart-after-lost-compare-and-swap", "SETs of two new keys", insertions},
    AblationWorld{"crc-verification", "long GET beside the reuse of a region",
                  torn_get_beside_reuse},
    AblationWorld{"bounded-walks", "GET of an absent key in a full table", search_in_full_table},
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
