#include "tools/falafel/pilaf_campaign.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "tools/pilaf_scenario/program.h"

namespace falafel::command_line {
namespace {

bool has_options_of_falafel(const CampaignTexts& texts) {
  return texts.clients || texts.operations || texts.in_flight || texts.slots || texts.keys ||
         !texts.workload.empty() || texts.tag_worlds != "some" || texts.hostile != "some";
}

// The safeguards to switch off.
tl::expected<std::vector<std::string>, std::string> switched_off(const CampaignTexts& texts) {
  std::vector<std::string> names;
  std::vector<std::string> all;
  for (const pilaf::SafeguardDescription& safeguard : pilaf::safeguard_descriptions) {
    all.emplace_back(safeguard.name);
    if (texts.protocol == "published" && !safeguard.is_published) names.emplace_back(all.back());
  }
  for (const std::string& name : texts.without) {
    if (std::ranges::find(all, name) == all.end()) {
      return tl::unexpected(
          fmt::format("--without {}: unknown safeguard of Pilaf; choose one of {}", name,
                      fmt::join(all, ", ")));
    }
    if (std::ranges::find(names, name) == names.end()) names.push_back(name);
  }
  return names;
}

}  // namespace

tl::expected<std::unique_ptr<explorer::Program>, std::string> create_pilaf_campaign(
    pilaf::GetPath gets, const CampaignTexts& texts) {
  if (has_options_of_falafel(texts)) {
    return tl::unexpected(
        std::string("--clients, --operations, --in-flight, --slots, --keys, --workload, "
                    "--tag-worlds and --hostile fix scenarios of Falafel; leave them out, or use "
                    "--store falafel"));
  }
  const auto without = switched_off(texts);
  if (!without) return tl::unexpected(without.error());
  auto choices = parse_simulation(texts.simulation);
  if (!choices) return tl::unexpected(choices.error());
  std::unique_ptr<explorer::Program> program = pilaf_scenario::make_program(
      gets, [choices = std::move(*choices)](sim::SimulationOptions& simulation) {
        apply(choices, simulation);
      });
  for (const std::string& safeguard : *without) program = program->without(safeguard);
  return program;
}

}  // namespace falafel::command_line
