#include "tools/command_line/campaign_options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>

#include "tools/command_line/reference_bit_options.h"

namespace falafel::command_line {
namespace {

std::vector<std::string> safeguard_names() {
  std::vector<std::string> names;
  names.reserve(engine::safeguard_descriptions.size());
  for (const auto& safeguard : engine::safeguard_descriptions) {
    names.emplace_back(safeguard.name);
  }
  return names;
}

std::optional<std::string> switch_off(engine::Safeguards& safeguards, const std::string& name) {
  for (const auto& safeguard : engine::safeguard_descriptions) {
    if (safeguard.name != name) continue;
    safeguards.*safeguard.enabled = false;
    return std::nullopt;
  }
  return fmt::format("--without {}: unknown safeguard; choose one of {}", name,
                     fmt::join(safeguard_names(), ", "));
}

store_scenario::Share parse_share(const std::string& text) {
  if (text == "only") return store_scenario::Share::only;
  return text == "none" ? store_scenario::Share::none : store_scenario::Share::some;
}

}  // namespace

CLI::Option* add_blocks_option(CLI::App& command, CampaignTexts& texts) {
  return command
      .add_option("--blocks", texts.blocks,
                  "share of scenarios with blocks instead of semi-spaces: none, some or only")
      ->check(CLI::IsMember({"none", "some", "only"}))
      ->capture_default_str();
}

CLI::Option* add_warm_restarts_option(CLI::App& command, CampaignTexts& texts) {
  return command
      .add_option("--warm-restarts", texts.warm_restarts,
                  "share of scenarios in which the server's memory stays when its process dies: "
                  "none, some or only; also for --store changing-cluster")
      ->check(CLI::IsMember({"none", "some", "only"}))
      ->capture_default_str();
}

void add_campaign_options(CLI::App& command, CampaignTexts& texts) {
  command
      .add_option("--protocol", texts.protocol,
                  "hardened, or published (the thesis without additions)")
      ->check(CLI::IsMember({"hardened", "published"}))
      ->capture_default_str();
  command.add_option("--without", texts.without, "safeguard to switch off (may be repeated)");
  command.add_option("--clients", texts.clients, "number of clients (default: random)")
      ->check(CLI::Range(1, 64));
  command.add_option("--operations", texts.operations, "number of operations per client")
      ->check(CLI::Range(1, 100'000));
  command.add_option("--in-flight", texts.in_flight, "concurrent operations per client")
      ->check(CLI::Range(1, 4));
  command.add_option("--slots", texts.slots, "number of entries in the table")
      ->check(CLI::Range(1, 65'536));
  command.add_option("--keys", texts.keys, "number of keys")->check(CLI::Range(1, 1'000'000));
  command
      .add_option("--location-cache", texts.location_cache_entries,
                  "entries of each client's location cache; 0: no cache (default: random)")
      ->check(CLI::Range(0, 65'536));
  add_reference_bit_options(command, texts.reference_bits, "random");
  command.add_option("--workload", texts.workload, "mix of operations (default: random)")
      ->check(CLI::IsMember(std::vector<std::string>(store_scenario::workload_names.begin(),
                                                     store_scenario::workload_names.end())));
  command
      .add_option(
          "--tag-worlds", texts.tag_worlds,
          "share of scenarios in which tags wrap around and heartbeats matter: none, some or only")
      ->check(CLI::IsMember({"none", "some", "only"}))
      ->capture_default_str();
  add_blocks_option(command, texts);
  command
      .add_option("--hostile", texts.hostile,
                  "share of scenarios with a hostile client: none, some or only")
      ->check(CLI::IsMember({"none", "some", "only"}))
      ->capture_default_str();
  command
      .add_option("--caches", texts.caches,
                  "share of scenarios in which the store is a cache: none, some or only; also for "
                  "--store changing-cluster: none or only")
      ->check(CLI::IsMember({"none", "some", "only"}))
      ->capture_default_str();
  add_warm_restarts_option(command, texts);
  command
      .add_option("--growth", texts.growth,
                  "share of scenarios in which the table grows: none, some or only")
      ->check(CLI::IsMember({"none", "some", "only"}))
      ->capture_default_str();
  command
      .add_option("--memory-growth", texts.memory_growth,
                  "share of scenarios in which the memory grows: none, some or only")
      ->check(CLI::IsMember({"none", "some", "only"}))
      ->capture_default_str();
  command
      .add_option("--scans", texts.scans,
                  "share of scenarios in which clients scan all keys: none, some or only")
      ->check(CLI::IsMember({"none", "some", "only"}))
      ->capture_default_str();
  command
      .add_option("--updates", texts.updates,
                  "share of scenarios in which clients change values depending on what they are: "
                  "none, some or only")
      ->check(CLI::IsMember({"none", "some", "only"}))
      ->capture_default_str();
  command
      .add_option("--heard-closes", texts.heard_closes,
                  "share of scenarios in which clients hear that the server has closed their "
                  "connection: none, some or only")
      ->check(CLI::IsMember({"none", "some", "only"}))
      ->capture_default_str();
  command
      .add_option("--ends", texts.ends,
                  "share of scenarios in which clients wait for the end of all operations: none, "
                  "some or only")
      ->check(CLI::IsMember({"none", "some", "only"}))
      ->capture_default_str();
  command
      .add_option("--set-many", texts.set_many,
                  "share of scenarios in which clients store several values with one call: none, "
                  "some or only")
      ->check(CLI::IsMember({"none", "some", "only"}))
      ->capture_default_str();
  command
      .add_option("--tricks", texts.tricks,
                  "share of scenarios with a hostile client that evades questions and misuses "
                  "regions: none, some or only")
      ->check(CLI::IsMember({"none", "some", "only"}))
      ->capture_default_str();
  command
      .add_option("--moves", texts.moves,
                  "share of scenarios in which the cleanup moves keys all the time: none, some or "
                  "only")
      ->check(CLI::IsMember({"none", "some", "only"}))
      ->capture_default_str();
  add_simulation_options(command, texts.simulation);
}

tl::expected<store_scenario::ScenarioChoices, std::string> parse_campaign(
    const CampaignTexts& texts) {
  store_scenario::ScenarioChoices choices;
  if (texts.protocol == "published") choices.safeguards = engine::Safeguards::published();
  for (const std::string& name : texts.without) {
    if (auto problem = switch_off(choices.safeguards, name)) return tl::unexpected(*problem);
  }
  choices.clients = texts.clients;
  choices.operations = texts.operations;
  choices.in_flight = texts.in_flight;
  choices.slots = texts.slots;
  choices.keys = texts.keys;
  choices.location_cache_entries = texts.location_cache_entries;
  choices.reference_bits = texts.reference_bits;
  choices.workload = texts.workload;
  choices.tag_worlds = parse_share(texts.tag_worlds);
  choices.blocks = parse_share(texts.blocks);
  choices.hostile = parse_share(texts.hostile);
  choices.caches = parse_share(texts.caches);
  choices.warm_restarts = parse_share(texts.warm_restarts);
  choices.growth = parse_share(texts.growth);
  choices.memory_growth = parse_share(texts.memory_growth);
  choices.scans = parse_share(texts.scans);
  choices.updates = parse_share(texts.updates);
  choices.heard_closes = parse_share(texts.heard_closes);
  choices.ends = parse_share(texts.ends);
  choices.set_many = parse_share(texts.set_many);
  choices.tricks = parse_share(texts.tricks);
  choices.moves = parse_share(texts.moves);
  auto simulation = parse_simulation(texts.simulation);
  if (!simulation) return tl::unexpected(simulation.error());
  choices.strategy = simulation->strategy;
  choices.faults = std::move(simulation->faults);
  choices.simulator_options = std::move(simulation->options);
  return choices;
}

}  // namespace falafel::command_line
