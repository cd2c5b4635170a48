// Generates random scenarios from seeds.
#include <algorithm>
#include <array>
#include <bit>
#include <initializer_list>

#include "engine/layout/container.h"
#include "engine/layout/entry.h"
#include "fabric/random.h"
#include "tools/scenarios/store/patience.h"
#include "tools/scenarios/store/scenario.h"
#include "tools/scenarios/store/special_worlds.h"
#include "tools/scenarios/store/variations.h"

namespace falafel::store_scenario {
namespace {

// The simulator's options and strategies use the same seed, and their random numbers must be
// independent of these.
constexpr std::uint64_t scenario_stream = 0x7363656e6172696f;
constexpr std::uint64_t variation_stream = 0x766172696174696f;
constexpr std::uint64_t location_cache_stream = 0x63616368655f6f6e;
constexpr std::uint64_t batch_stream = 0x6261746368206f70;
constexpr std::uint64_t block_stream = 0x626c6f636b73206f;
constexpr std::uint64_t reference_stream = 0x66696e6765727072;

// The containers of such values take several packets.
constexpr std::uint64_t long_value_bytes = 600;
constexpr std::uint64_t least_mtu_bytes = 256;

// The percentages of kinds of operations; the rest are deletes.
struct Workload {
  std::uint32_t get_percent;
  std::uint32_t set_percent;
  bool prefers_low_keys;
};

// The read and update shares of YCSB's core workloads (Cooper et al. 2010). Inserts become SETs,
// and scans of some keys, which the store does not support, become GETs. The thesis has no
// deletes.
constexpr std::array<Workload, workload_names.size()> workloads{{{35, 40, false},
                                                                 {50, 50, true},
                                                                 {95, 5, true},
                                                                 {100, 0, true},
                                                                 {95, 5, false},
                                                                 {95, 5, true},
                                                                 {50, 50, true},
                                                                 {50, 50, false}}};

class Draw {
 public:
  Draw(const ScenarioChoices& choices, std::uint64_t seed)
      : choices_(choices), seed_(seed), random_(seed ^ scenario_stream) {}

  Scenario scenario();

 private:
  std::uint64_t below(std::uint64_t bound) { return random_.below(bound); }
  bool one_in(std::uint64_t count) { return below(count) == 0; }
  std::uint64_t one_of(std::initializer_list<std::uint64_t> values) {
    return values.begin()[below(values.size())];
  }

  void draw_geometry(Scenario& scenario);
  void draw_server(Scenario& scenario);
  void draw_clients(Scenario& scenario);
  ClientPlan draw_client(const Scenario& scenario, const Workload& workload, std::uint32_t keys);
  PlannedOperation draw_operation(const Scenario& scenario, const Workload& workload,
                                  std::uint32_t keys);
  void draw_simulation(Scenario& scenario);
  void keep_to_choices(sim::SimulationOptions& options) const;
  void stretch_intervals(Scenario& scenario) const;
  void draw_location_cache(Scenario& scenario) const;
  void draw_batches(Scenario& scenario) const;
  void draw_blocks(Scenario& scenario) const;
  void draw_references(Scenario& scenario) const;
  static void allow_for_audits(Scenario& scenario);

  const ScenarioChoices& choices_;
  std::uint64_t seed_;
  fabric::RandomGenerator random_;
  std::uint64_t value_bytes_ = usual_value_bytes;
  std::uint64_t longest_pause_ns_ = 0;  // of one operation
};

void Draw::draw_geometry(Scenario& scenario) {
  engine::Geometry& geometry = scenario.geometry;
  geometry.unit_bytes = one_in(4) ? 64 : 8;
  geometry.table_entries = choices_.slots.value_or(one_of({3, 4, 4, 5, 8, 16}));
  // Allows transfers that fail between two packets.
  if (one_in(4)) value_bytes_ = long_value_bytes;
  const std::uint64_t container =
      geometry.round_up_to_unit(engine::container_bytes(usual_key_bytes, value_bytes_));
  geometry.region_bytes = container * one_of({1, 1, 2, 4});
  geometry.region_count = 2 + below(5);
  const std::uint64_t live = container * geometry.table_entries;
  // Separate statements, because compilers evaluate arguments in different orders.
  const std::uint64_t regions = 1 + below(geometry.region_count);
  const std::uint64_t spare_regions = 1 + below(4);
  geometry.mature_bytes =
      std::max(live + geometry.region_bytes * spare_regions, geometry.region_bytes * regions);
}

void Draw::draw_server(Scenario& scenario) {
  scenario.heartbeat_timeout_ns = one_of({50'000, 500'000, 5'000'000, 50'000'000});
  scenario.cleanup_percent = static_cast<std::uint32_t>(one_of({0, 20, 50}));
  scenario.cleanup_interval_ns = one_of({50'000, 200'000, 1'000'000});
  scenario.pipelined_updates = static_cast<std::uint32_t>(one_of({1, 2, 8}));
  const bool published = choices_.safeguards == engine::Safeguards::published();
  scenario.collection =
      published || one_in(4) ? engine::Collection::walk_table : engine::Collection::scan_memory;
  scenario.asks_for_regions_back = !published && !one_in(4);
  scenario.keeps_overwrite_reserve = !published && !one_in(4);
  scenario.readahead.chunk_entries = static_cast<std::uint32_t>(one_of({1, 2, 4, 32}));
  scenario.readahead.container_bytes = static_cast<std::uint32_t>(one_of({24, 32, 64}));
  scenario.readahead.containers = static_cast<std::uint32_t>(1 + below(4));
  scenario.readahead.adaptive = one_in(2);
  scenario.renewal_percent = static_cast<std::uint32_t>(one_of({50, 75, 100}));
}

PlannedOperation Draw::draw_operation(const Scenario& scenario, const Workload& workload,
                                      std::uint32_t keys) {
  PlannedOperation operation;
  const std::uint64_t percent = below(100);
  if (percent >= workload.get_percent) {
    operation.kind = percent < workload.get_percent + workload.set_percent ? OperationKind::set
                                                                           : OperationKind::remove;
  }
  operation.key = static_cast<std::uint32_t>(below(keys));
  if (workload.prefers_low_keys && one_in(2)) operation.key = 0;
  if (operation.kind == OperationKind::set) {
    const std::uint64_t room =
        scenario.geometry.region_bytes - engine::container_bytes(usual_key_bytes, 0);
    operation.value_bytes =
        static_cast<std::uint32_t>(one_in(4) ? below(room + 1) : std::min(room, value_bytes_));
  }
  // Bursts of operations, with long pauses of single clients in between.
  if (one_in(6)) operation.pause_ns = std::uint64_t{100} << below(16);
  longest_pause_ns_ = std::max(longest_pause_ns_, operation.pause_ns);
  return operation;
}

ClientPlan Draw::draw_client(const Scenario& scenario, const Workload& workload,
                             std::uint32_t keys) {
  ClientPlan client;
  const std::uint32_t fibers = one_in(3) ? static_cast<std::uint32_t>(2 + below(2)) : 1;
  client.fibers = choices_.in_flight.value_or(fibers);
  const std::uint32_t operations =
      choices_.operations.value_or(static_cast<std::uint32_t>(one_of({4, 8, 12})));
  for (std::uint32_t index = 0; index < operations; ++index) {
    client.operations.push_back(draw_operation(scenario, workload, keys));
  }
  return client;
}

void Draw::draw_clients(Scenario& scenario) {
  const auto named = std::find(workload_names.begin(), workload_names.end(), choices_.workload);
  const Workload& workload =
      named == workload_names.end()
          ? workloads[one_in(2) ? 0 : below(workloads.size())]
          : workloads[static_cast<std::size_t>(named - workload_names.begin())];
  const auto slots =
      static_cast<std::uint32_t>(std::min<std::uint64_t>(scenario.geometry.table_entries, 8));
  const std::uint32_t keys =
      choices_.keys.value_or(std::max(1U, slots - 1 + static_cast<std::uint32_t>(below(3))));
  const std::uint32_t clients = choices_.clients.value_or(2 + static_cast<std::uint32_t>(below(3)));
  for (std::uint32_t client = 0; client < clients; ++client) {
    scenario.clients.push_back(draw_client(scenario, workload, keys));
  }
}

// Periodic activities must not dominate the run: each client sends five heartbeats per time-out,
// even while another client is paused or stalled.
void Draw::stretch_intervals(Scenario& scenario) const {
  const sim::SimulationOptions& options = scenario.simulation;
  const std::uint64_t busy_ns = 100 * scenario.clients.size() * options.step_duration_ns;
  scenario.heartbeat_timeout_ns =
      std::max({scenario.heartbeat_timeout_ns, busy_ns, longest_pause_ns_ / 2});
  scenario.cleanup_interval_ns = std::max(
      {scenario.cleanup_interval_ns, longest_pause_ns_ / 16, options.longest_stall_ns / 64});
}

void Draw::draw_simulation(Scenario& scenario) {
  sim::SimulationOptions& options = scenario.simulation;
  options = sim::draw_swarm_options(seed_);
  options.last_fault_step = std::uint64_t{200} << below(5);
  options.longest_stall_ns = one_of({100'000, 1'000'000, 20'000'000});
  stretch_intervals(scenario);
  if (value_bytes_ > least_mtu_bytes) options.mtu_bytes = least_mtu_bytes;
  keep_to_choices(options);
}

void Draw::keep_to_choices(sim::SimulationOptions& options) const {
  if (choices_.strategy) options.strategy = *choices_.strategy;
  for (std::size_t index = 0; choices_.faults && index < sim::fault_kind_count; ++index) {
    const auto kind = static_cast<sim::FaultKind>(index);
    const bool allowed =
        std::find(choices_.faults->begin(), choices_.faults->end(), kind) != choices_.faults->end();
    if (!allowed) options.set_fault_rate(kind, 0);
  }
  for (const auto& [name, value] : choices_.simulator_options) {
    const auto problem = sim::set_option(options, name, value);
    FALAFEL_ASSERT(!problem, "{}", *problem);
  }
}

// Half of the worlds have a location cache, which the thesis does not have.
void Draw::draw_location_cache(Scenario& scenario) const {
  fabric::RandomGenerator random(seed_ ^ location_cache_stream);
  constexpr std::array<std::uint32_t, 3> sizes{1, 8, 64};
  constexpr std::array<std::uint64_t, 3> times_ns{10'000, 1'000'000, 1'000'000'000};
  const std::uint64_t size = random.below(2 * sizes.size());
  const std::uint64_t time = random.below(times_ns.size());
  if (choices_.safeguards == engine::Safeguards::published()) return;
  const std::uint32_t drawn = size < sizes.size() ? sizes[size] : 0;
  const std::uint32_t entries = choices_.location_cache_entries.value_or(drawn);
  if (entries > 0) scenario.location_cache = {.entries = entries, .trust_ns = times_ns[time]};
}

// A quarter of the clients execute batches, which the thesis does not have. Safeguards are ablated
// without them.
void Draw::draw_batches(Scenario& scenario) const {
  if (choices_.safeguards != engine::Safeguards::hardened() || choices_.in_flight) return;
  fabric::RandomGenerator random(seed_ ^ batch_stream);
  for (ClientPlan& client : scenario.clients) {
    const bool has_batches = random.below(4) == 0;
    const std::uint64_t size = 2 + random.below(5);
    if (has_batches) client.batch = static_cast<std::uint32_t>(size);
  }
}

// A quarter of the worlds have blocks, which the thesis does not have. They have room for about as
// much as a semi-space.
void Draw::draw_blocks(Scenario& scenario) const {
  constexpr std::uint64_t worlds_per_world_with_blocks = 4;
  fabric::RandomGenerator random(seed_ ^ block_stream);
  const bool has_blocks = random.below(worlds_per_world_with_blocks) == 0;
  const std::uint64_t regions_per_block = 1 + random.below(2);
  const std::uint64_t spare_blocks = random.below(4);
  const bool is_published = choices_.safeguards == engine::Safeguards::published();
  if (is_published || choices_.blocks == Share::none) return;
  if (!has_blocks && choices_.blocks == Share::some) return;
  engine::Geometry& geometry = scenario.geometry;
  const std::uint64_t block_bytes = regions_per_block * geometry.region_bytes;
  geometry.mature_space_count = static_cast<std::uint32_t>(
      engine::fewest_blocks + geometry.mature_bytes / block_bytes + spare_blocks);
  geometry.mature_bytes = block_bytes;
}

// Half of the worlds have fingerprints, which the thesis does not have. Some have so few bits that
// many keys share one.
void Draw::draw_references(Scenario& scenario) const {
  fabric::RandomGenerator random(seed_ ^ reference_stream);
  constexpr std::array<std::uint32_t, 3> fingerprint_bits{1, 2, engine::most_fingerprint_bits};
  const bool has_fingerprints = random.below(2) == 0;
  const std::uint64_t fingerprint = random.below(fingerprint_bits.size());
  const std::uint64_t size_class = random.below(engine::most_size_class_bits + 1);
  if (choices_.safeguards == engine::Safeguards::published()) return;
  engine::SpareBits bits{.size_class = 0, .fingerprint = 0};
  if (has_fingerprints) {
    bits = {.size_class = static_cast<std::uint32_t>(size_class),
            .fingerprint = fingerprint_bits[fingerprint]};
  }
  const engine::SpareBits& chosen = choices_.reference_bits;
  engine::Geometry& geometry = scenario.geometry;
  const engine::Geometry most = engine::with_spare_bits(geometry);
  geometry.size_class_bits =
      std::min(chosen.size_class.value_or(*bits.size_class), most.size_class_bits);
  geometry.fingerprint_bits =
      std::min(chosen.fingerprint.value_or(*bits.fingerprint), most.fingerprint_bits);
}

// Clients pause, and the checkers wait for a server that has to give up on clients. The audits take
// steps meanwhile. The limit ends endless runs, and none for which the checkers still wait, or in
// which somebody had no turn while the schedule was unfair.
void Draw::allow_for_audits(Scenario& scenario) {
  // The processor may be preempted at some of the entries.
  const std::uint64_t steps_of_audit = 2 + scenario.geometry.slot_count() / 4;
  const std::uint64_t audits = longest_wait_ns(scenario) / scenario.cleanup_interval_ns;
  scenario.simulation.step_limit =
      steps_after_waiting + std::max(first_fair_step, audits * steps_of_audit);
}

Scenario Draw::scenario() {
  Scenario scenario;
  scenario.safeguards = choices_.safeguards;
  draw_geometry(scenario);
  draw_server(scenario);
  draw_clients(scenario);
  draw_simulation(scenario);
  fabric::RandomGenerator variation(seed_ ^ variation_stream);
  vary(choices_, variation, scenario);
  stretch_intervals(scenario);
  const SpecialWorlds special(choices_, seed_);
  draw_location_cache(scenario);
  special.draw_tag_world(scenario);
  if (scenario.geometry.tag_bits == engine::most_tag_bits) draw_blocks(scenario);
  special.draw_cache(scenario);
  draw_references(scenario);
  if (scenario.geometry.tag_bits == engine::most_tag_bits) {
    special.draw_hostile_client(scenario);
    draw_batches(scenario);
  }
  special.draw_warm_restarts(scenario);
  special.draw_growth(scenario);
  special.draw_memory_growth(scenario);
  special.draw_scans(scenario);
  special.draw_updates(scenario);
  special.draw_heard_closes(scenario);
  special.draw_set_many(scenario);
  special.draw_ends(scenario);
  special.draw_tricks(scenario);
  special.draw_moves(scenario);
  allow_for_audits(scenario);
  return scenario;
}

}  // namespace

Scenario draw_scenario(const ScenarioChoices& choices, std::uint64_t seed) {
  return Draw(choices, seed).scenario();
}

}  // namespace falafel::store_scenario
