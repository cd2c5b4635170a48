// Describes scenarios in words.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "explorer/simulation_choices.h"
#include "tools/scenarios/store/scenario.h"

namespace falafel::store_scenario {
namespace {

void append_store(std::string& text, const Scenario& scenario) {
  const engine::Geometry& geometry = scenario.geometry;
  text += fmt::format(
      "  store: table of {} entries, {} regions of {} bytes, {} mature spaces of {} "
      "bytes, "
      "units of {} bytes, tags of {} bits, fingerprints of {} bits, size classes of {} "
      "bits\n",
      geometry.table_entries, geometry.region_count, geometry.region_bytes,
      geometry.mature_space_count, geometry.mature_bytes, geometry.unit_bytes, geometry.tag_bits,
      geometry.fingerprint_bits, geometry.size_class_bits);
  text += fmt::format("  hash key {:02x}\n", fmt::join(scenario.hash_key, ""));
  text += "  safeguards switched off:";
  for (const auto& safeguard : engine::safeguard_descriptions) {
    if (!(scenario.safeguards.*safeguard.enabled)) (text += ' ') += safeguard.name;
  }
  if (scenario.safeguards == engine::Safeguards::hardened()) text += " none";
  text += fmt::format(
      "\n  server: heartbeat_timeout_ns {}, flush_timeout_ns {}, destruction_drains {}, "
      "server_timeout_ns {}, "
      "cleanup_percent {}, cleanup_interval_ns {}, "
      "pipelined_updates {}, collection {}, "
      "asks_for_regions_back {}, keeps_overwrite_reserve {}\n",
      scenario.heartbeat_timeout_ns, scenario.flush_timeout_ns, scenario.destruction_drains,
      scenario.server_timeout_ns, scenario.cleanup_percent, scenario.cleanup_interval_ns,
      scenario.pipelined_updates, to_string(scenario.collection), scenario.asks_for_regions_back,
      scenario.keeps_overwrite_reserve);
  if (geometry.values_expire) {
    text +=
        fmt::format("  a cache{}; the wall clocks of clients are off by {} ns\n",
                    scenario.evicts ? ", which evicts values" : "", scenario.wall_clock_error_ns);
  }
  if (scenario.keeps_memory) text += "  the server's memory stays when its process dies\n";
  if (scenario.clients_hear_close) text += "  clients hear that the server has closed\n";
  if (scenario.memory_grows) {
    text +=
        fmt::format("  the memory grows, and begins with {} bytes\n", scenario.least_held_bytes);
  }
  if (scenario.max_clients > 0) {
    text += fmt::format("  at most {} clients at a time\n", scenario.max_clients);
  }
  for (const PlannedCleanup& cleanup : scenario.cleanups) {
    text += fmt::format("  cleanup requested after {} ns", cleanup.pause_ns);
    if (cleanup.cancel_after_ns > 0) {
      text += fmt::format(", cancelled after {} ns", cleanup.cancel_after_ns);
    }
    text += '\n';
  }
}

void append_client(std::string& text, std::size_t index, const ClientPlan& client) {
  text += fmt::format("  client {}, {} at a time", index, client.fibers);
  if (client.batch > 1) text += fmt::format(", in batches of {}", client.batch);
  if (client.sets_many) text += ", SETs with set_many";
  text += ':';
  const char* separator = " ";
  for (const PlannedOperation& operation : client.operations) {
    text += separator;
    if (operation.goodbye) text += "goodbye, ";
    if (operation.pause_ns > 0) {
      text += fmt::format("pause {} ns, ", operation.pause_ns);
    }
    text += to_string(operation.kind);
    if (has_key(operation.kind)) text += fmt::format(" {}", operation.key);
    if (has_value(operation.kind)) {
      text += fmt::format(" ({} bytes)", operation.value_bytes);
    }
    if (operation.pins()) {
      text += " pinned";
    } else if (operation.time_to_live_ns > 0) {
      text += fmt::format(" for {} ns", operation.time_to_live_ns);
    }
    if (operation.cancel_after_ns > 0) {
      text += fmt::format(" cancelled after {} ns", operation.cancel_after_ns);
    }
    separator = ", ";
  }
  text += '\n';
}

void append_clients(std::string& text, const Scenario& scenario) {
  text += fmt::format(
      "  clients: readahead of {} entries and {} containers of {} bytes{}{}, "
      "location cache of {} entries, trusted for {} ns, renewal_percent {}\n",
      scenario.readahead.chunk_entries, scenario.readahead.containers,
      scenario.readahead.container_bytes, scenario.readahead.adaptive ? ", adaptive" : "",
      scenario.readahead.validation ? "" : ", no validation", scenario.location_cache.entries,
      scenario.location_cache.trust_ns, scenario.renewal_percent);
  for (std::size_t index = 0; index < scenario.clients.size(); ++index) {
    append_client(text, index, scenario.clients[index]);
  }
}

void append_stage(std::string& text, const Stage& stage) {
  for (const PreparedOperation& prepared : stage.prepared) {
    text += fmt::format("  prepared after {} ns: client {}, {} {}", prepared.at_ns, prepared.client,
                        to_string(prepared.operation.kind), prepared.operation.key);
    if (prepared.operation.kind == OperationKind::set) {
      text += fmt::format(" ({} bytes)", prepared.operation.value_bytes);
    }
    text += '\n';
  }
  text += fmt::format("  the clients begin their plans after {} ns and disconnect after {} ns\n",
                      stage.begin_ns, stage.end_ns);
  if (stage.server_pauses_at_ns > 0) {
    text += fmt::format("  the server pauses after {} ns, until then\n", stage.server_pauses_at_ns);
  }
  for (const PlannedPause& pause : stage.pauses) {
    text += fmt::format("  client {} pauses after {} ns, for {} ns\n", pause.client, pause.at_ns,
                        pause.duration_ns);
  }
}

void append_attacks(std::string& text, const Scenario& scenario) {
  if (scenario.attacks.empty()) return;
  text += "  hostile client:";
  const char* separator = " ";
  for (const PlannedAttack& attack : scenario.attacks) {
    text += separator;
    if (attack.pause_ns > 0) {
      text += fmt::format("pause {} ns, ", attack.pause_ns);
    }
    text +=
        fmt::format("{} (slot {}, number {})", to_string(attack.kind), attack.slot, attack.number);
    separator = ", ";
  }
  text += '\n';
}

}  // namespace

std::string Scenario::describe() const {
  const Scenario& scenario = *this;
  std::string text;
  append_store(text, scenario);
  if (scenario.stage) append_stage(text, *scenario.stage);
  append_clients(text, scenario);
  append_attacks(text, scenario);
  text += explorer::describe_simulation(scenario.simulation);
  return text;
}

}  // namespace falafel::store_scenario
