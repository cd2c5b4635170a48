// Options that all campaigns share, as command-line texts.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "explorer/commands/simulation_texts.h"
#include "tools/scenarios/store/scenario.h"

namespace falafel::command_line {

struct CampaignTexts {
  std::string protocol = "hardened";
  std::vector<std::string> without;
  std::optional<std::uint32_t> clients;
  std::optional<std::uint32_t> operations;
  std::optional<std::uint32_t> in_flight;
  std::optional<std::uint64_t> slots;
  std::optional<std::uint32_t> keys;
  std::optional<std::uint32_t> location_cache_entries;
  engine::SpareBits reference_bits;
  std::string workload;
  SimulationTexts simulation;
  std::string tag_worlds = "some";
  std::string blocks = "some";
  std::string hostile = "some";
  std::string caches = "none";
  std::string warm_restarts = "none";
  std::string growth = "none";
  std::string memory_growth = "none";
  std::string scans = "none";
  std::string updates = "none";
  std::string heard_closes = "none";
  std::string ends = "none";
  std::string set_many = "none";
  std::string tricks = "none";
  std::string moves = "none";
};

CLI::Option* add_blocks_option(CLI::App& command, CampaignTexts& texts);
CLI::Option* add_warm_restarts_option(CLI::App& command, CampaignTexts& texts);
void add_campaign_options(CLI::App& command, CampaignTexts& texts);

// Converts the texts to the choices of a campaign; choices without a text are random. Returns an
// error message if a text is invalid.
tl::expected<store_scenario::ScenarioChoices, std::string> parse_campaign(
    const CampaignTexts& texts);

}  // namespace falafel::command_line
