#include "tools/scenarios/store/small_world_builder.h"

#include <algorithm>
#include <array>
#include <memory>
#include <span>
#include <utility>

#include "engine/layout/container.h"
#include "fabric/assert.h"
#include "tools/scenarios/store/store_world.h"

namespace falafel::store_scenario {
namespace {

constexpr std::uint64_t begin_ns = 1'000'000;
constexpr std::uint64_t end_ns = 100'000'000;
constexpr std::uint64_t first_prepared_ns = 100'000;
constexpr std::uint64_t pause_at_ns = 900'000;
// Each prepared operation is over before the next one begins.
constexpr std::uint64_t prepared_apart_ns = 10'000;

struct Home {
  std::uint32_t key;
  std::uint64_t slot;
};
constexpr std::array homes{
    Home{SmallWorldBuilder::present_key, 0}, Home{SmallWorldBuilder::absent_key, 0},
    Home{SmallWorldBuilder::other_key, 3}, Home{SmallWorldBuilder::deleted_key, 0},
    Home{SmallWorldBuilder::filling_key, 3}};

bool gives_homes(const engine::HashKey& hash_key) {
  return std::ranges::all_of(homes, [&](const Home& home) {
    const std::string name = key_name(home.key);
    return engine::home_slot(std::as_bytes(std::span(name)), hash_key,
                             SmallWorldBuilder::usual_table_entries) == home.slot;
  });
}

engine::HashKey find_hash_key() {
  constexpr std::uint32_t attempts = 65'536;
  engine::HashKey hash_key{};
  for (std::uint32_t number = 0; number < attempts; ++number) {
    hash_key[0] = static_cast<std::byte>(number & 0xff);
    hash_key[1] = static_cast<std::byte>(number >> 8);
    if (gives_homes(hash_key)) return hash_key;
  }
  FALAFEL_ASSERT(false, "none of {} hash keys gives the keys their home slots", attempts);
  return hash_key;
}

}  // namespace

SmallWorldBuilder::SmallWorldBuilder(const Size& size) : size_(size), next_ns_(first_prepared_ns) {
  engine::Geometry& geometry = scenario_.geometry;
  geometry.table_entries = size.table_entries;
  geometry.region_bytes = size.containers_of_region * container_bytes();
  geometry.region_count = size.region_count;
  geometry.mature_bytes = (size.region_count + 8) * geometry.region_bytes;
  static const engine::HashKey hash_key = find_hash_key();
  scenario_.hash_key = hash_key;
  scenario_.cleanup_percent = 100;
  scenario_.cleanup_interval_ns = 2 * end_ns;
  scenario_.readahead = {.chunk_entries = static_cast<std::uint32_t>(size.table_entries),
                         .container_bytes = static_cast<std::uint32_t>(container_bytes()),
                         .containers = 1,
                         .adaptive = false,
                         .validation = false};
  scenario_.simulation.granularity = sim::Granularity::packet;
  scenario_.simulation.step_limit = 20'000;
  scenario_.simulation.step_duration_ns = 0;
  scenario_.simulation.atomic_capability = fabric::AtomicCapability::global;
  scenario_.stage.emplace();
  scenario_.stage->begin_ns = begin_ns;
  scenario_.stage->end_ns = end_ns;
}

std::uint64_t SmallWorldBuilder::container_bytes() const {
  return scenario_.geometry.round_up_to_unit(
      engine::container_bytes(usual_key_bytes, size_.value_bytes));
}

void SmallWorldBuilder::prepare(std::uint32_t client, const PlannedOperation& operation) {
  scenario_.stage->prepared.push_back(
      {.client = client, .at_ns = next_ns_, .operation = operation});
  next_ns_ += prepared_apart_ns;
}

void SmallWorldBuilder::prepare_set(std::uint32_t client, std::uint32_t key) {
  prepare(client, set(key));
}

void SmallWorldBuilder::prepare_delete(std::uint32_t client, std::uint32_t key) {
  prepare(client, remove(key));
}

void SmallWorldBuilder::prepare_get(std::uint32_t client, std::uint32_t key) {
  prepare(client, get(key));
}

void SmallWorldBuilder::fill_region(std::uint32_t client, std::uint64_t containers) {
  const auto filled = [&] {
    return std::ranges::count_if(
        scenario_.stage->prepared, [client](const PreparedOperation& prepared) {
          return prepared.client == client && prepared.operation.kind == OperationKind::set;
        });
  };
  while (static_cast<std::uint64_t>(filled()) < containers) prepare_set(client, other_key);
}

void SmallWorldBuilder::pause_server() {
  scenario_.stage->server_pauses_at_ns = pause_at_ns;
  next_ns_ = pause_at_ns + prepared_apart_ns;
}

void SmallWorldBuilder::pause_client(std::uint32_t client, std::uint64_t duration_ns) {
  scenario_.stage->pauses.push_back(
      {.client = client, .at_ns = begin_ns, .duration_ns = duration_ns});
}

std::uint32_t SmallWorldBuilder::add_client(const std::vector<PlannedOperation>& operations,
                                            std::uint32_t fibers) {
  scenario_.clients.push_back({.fibers = fibers, .operations = operations});
  return static_cast<std::uint32_t>(scenario_.clients.size() - 1);
}

PlannedOperation SmallWorldBuilder::get(std::uint32_t key) const {
  PlannedOperation operation;
  operation.key = key;
  return operation;
}

PlannedOperation SmallWorldBuilder::set(std::uint32_t key) const {
  PlannedOperation operation;
  operation.kind = OperationKind::set;
  operation.key = key;
  operation.value_bytes = size_.value_bytes;
  return operation;
}

PlannedOperation SmallWorldBuilder::update(std::uint32_t key) const {
  PlannedOperation operation = set(key);
  operation.kind = OperationKind::update;
  return operation;
}

PlannedOperation SmallWorldBuilder::remove(std::uint32_t key) const {
  PlannedOperation operation;
  operation.kind = OperationKind::remove;
  operation.key = key;
  return operation;
}

void SmallWorldBuilder::use_blocks(std::uint32_t count) {
  scenario_.geometry.mature_bytes = scenario_.geometry.region_bytes;
  scenario_.geometry.mature_space_count = count;
  scenario_.keeps_overwrite_reserve = false;
}

void SmallWorldBuilder::swap_by_device() {
  scenario_.simulation.atomic_capability = fabric::AtomicCapability::device;
}

void SmallWorldBuilder::cache_locations() {
  scenario_.location_cache = {.entries = 4, .trust_ns = end_ns};
}

void SmallWorldBuilder::use_fingerprints() {
  scenario_.geometry = engine::with_spare_bits(scenario_.geometry);
}

// The next process starts one step later.
void SmallWorldBuilder::restart_server() {
  scenario_.keeps_memory = true;
  scenario_.simulation.set_fault_rate(sim::FaultKind::server_restart, 1);
  scenario_.simulation.longest_stall_ns = 1;
}

void SmallWorldBuilder::take_turns() { scenario_.simulation.fibers_take_turns = true; }

void SmallWorldBuilder::free_at_once() { scenario_.safeguards.epoch_reclamation = false; }

void SmallWorldBuilder::clean_up() { scenario_.cleanups.push_back({.pause_ns = begin_ns}); }

// Its region is full, so its next SET releases the region.
void SmallWorldBuilder::collect_region_with(std::uint32_t key,
                                            const std::function<void()>& prepare_more) {
  const std::uint32_t owner = add_client({});
  prepare_set(owner, key);
  fill_region(owner, size_.containers_of_region);
  if (prepare_more) prepare_more();
  pause_server();
  prepare_set(owner, other_key);
}

// Its last SET takes the share of the present region at which it requests the next one.
void SmallWorldBuilder::grow_table_with(std::uint32_t key,
                                        const std::function<void()>& prepare_more) {
  scenario_.geometry.most_tables = 2;
  const std::uint32_t owner = add_client({});
  for (const std::uint32_t stored : {key, other_key, filling_key, deleted_key}) {
    prepare_set(owner, stored);
  }
  prepare_delete(owner, deleted_key);
  fill_region(owner, size_.containers_of_region * scenario_.renewal_percent / 100 - 1);
  if (prepare_more) prepare_more();
  pause_server();
  prepare_set(owner, other_key);
}

// The copies of the first region fill a block: the container of the key, and a long one. The next
// SET releases the region. Later SETs replace the long container, when it has been copied.
void SmallWorldBuilder::collect_block_with(std::uint32_t key,
                                           const std::function<void()>& prepare_more) {
  const std::uint32_t owner = add_client({});
  prepare_set(owner, key);
  prepare_set(owner, filling_key);
  scenario_.stage->prepared.back().operation.value_bytes +=
      static_cast<std::uint32_t>((size_.containers_of_region - 2) * container_bytes());
  prepare_set(owner, other_key);
  for (std::uint64_t container = 1; container < size_.containers_of_region; ++container) {
    prepare_set(owner, filling_key);
  }
  if (prepare_more) prepare_more();
  pause_server();
  prepare_set(owner, other_key);
}

explorer::SmallWorld SmallWorldBuilder::build(std::string name) const {
  return make_world(std::move(name), scenario_);
}

explorer::SmallWorld make_world(std::string name, const Scenario& scenario) {
  explorer::SmallWorld world;
  world.name = std::move(name);
  world.scenario = std::make_shared<Scenario>(scenario);
  world.exploration.explored_from_ns = scenario.stage->begin_ns;
  // After a pause has begun, only time passes.
  world.exploration.explored_until_ns =
      scenario.stage->pauses.empty() ? scenario.stage->end_ns : scenario.stage->begin_ns + 1;
  world.exploration.draws_numbers = false;
  if (scenario.keeps_memory) world.exploration.max_faults = 1;
  return world;
}

}  // namespace falafel::store_scenario
