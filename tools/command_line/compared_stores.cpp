#include "tools/command_line/compared_stores.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <functional>
#include <utility>
#include <vector>

#include "stores/c_hint/options.h"
#include "stores/nessie/options.h"
#include "stores/pilaf/options.h"
#include "stores/race/options.h"
#include "stores/swarm/options.h"
#include "stores/two_sided/options.h"
#include "tools/scenarios/c_hint/program.h"
#include "tools/scenarios/cluster/program.h"
#include "tools/scenarios/nessie/program.h"
#include "tools/scenarios/pilaf/program.h"
#include "tools/scenarios/race/program.h"
#include "tools/scenarios/replicated/program.h"
#include "tools/scenarios/swarm/program.h"
#include "tools/scenarios/two_sided/program.h"

namespace falafel::command_line {
namespace {

using Adjust = std::function<void(sim::SimulationOptions&)>;
using cluster_scenario::ChangingRuns;
using cluster_scenario::WarmRuns;

constexpr std::string_view c_hint_name = "c-hint";
constexpr std::string_view cluster_name = "cluster";
constexpr std::string_view changing_cluster_name = "changing-cluster";
constexpr std::string_view pilaf_name = "pilaf";
constexpr std::string_view pilaf_vo_name = "pilaf-vo";
constexpr std::string_view race_name = "race";
constexpr std::string_view replicated_name = "replicated";
constexpr std::string_view swarm_name = "swarm";
constexpr std::array<nessie::Architecture, 3> nessie_architectures{
    nessie::Architecture::client_driven, nessie::Architecture::server_driven,
    nessie::Architecture::hybrid};

struct TwoSidedStore {
  std::string_view name;
  fabric::Transport transport;
};
constexpr std::array<TwoSidedStore, 4> two_sided_stores{{
    {"two-sided-rc", fabric::Transport::reliable_connection},
    {"two-sided-uc", fabric::Transport::unreliable_connection},
    {"two-sided-ud", fabric::Transport::unreliable_datagram},
    {"two-sided-tcp", fabric::Transport::message_stream},
}};

bool has_options_of_falafel(const CampaignTexts& texts) {
  return texts.clients || texts.operations || texts.in_flight || texts.slots || texts.keys ||
         texts.location_cache_entries || texts.reference_bits.fingerprint ||
         texts.reference_bits.size_class || !texts.workload.empty() || texts.tag_worlds != "some" ||
         texts.blocks != "some" || texts.hostile != "some";
}

// A store without the safeguards that go beyond its paper.
std::unique_ptr<explorer::Program> as_published(std::unique_ptr<explorer::Program> store,
                                                const auto& safeguard_descriptions) {
  for (const auto& safeguard : safeguard_descriptions) {
    if (!safeguard.is_published) store = store->without(std::string(safeguard.name));
  }
  return store;
}

std::unique_ptr<explorer::Program> create_two_sided(fabric::Transport transport, bool is_published,
                                                    Adjust adjust) {
  std::unique_ptr<explorer::Program> store =
      two_sided_scenario::make_program(transport, std::move(adjust));
  return is_published ? as_published(std::move(store), two_sided::safeguard_descriptions)
                      : std::move(store);
}

std::unique_ptr<explorer::Program> create_nessie(nessie::Architecture architecture,
                                                 bool is_published, Adjust adjust) {
  using nessie_scenario::Variant;
  return nessie_scenario::make_program(
      {.architecture = architecture,
       .variant = is_published ? Variant::published : Variant::hardened},
      std::move(adjust));
}

ChangingRuns parse_changing_runs(const CampaignTexts& texts) {
  const std::string& warm = texts.warm_restarts;
  return {.warm = warm == "only"   ? WarmRuns::only
                  : warm == "none" ? WarmRuns::none
                                   : WarmRuns::some,
          .are_caches = texts.caches == "only"};
}

// `changing_runs` applies to changing clusters.
std::unique_ptr<explorer::Program> create(const std::string& store, bool is_published,
                                          const ChangingRuns& changing_runs, Adjust adjust) {
  if (store == cluster_name) return cluster_scenario::make_program(std::move(adjust));
  if (store == changing_cluster_name) {
    return cluster_scenario::make_changing_program(changing_runs, std::move(adjust));
  }
  if (store == replicated_name) return replicated_scenario::make_program(std::move(adjust));
  for (const nessie::Architecture architecture : nessie_architectures) {
    if (store != nessie_scenario::name_of({.architecture = architecture})) continue;
    return create_nessie(architecture, is_published, std::move(adjust));
  }
  if (store == race_name) {
    std::unique_ptr<explorer::Program> race = race_scenario::make_program(std::move(adjust));
    return is_published ? as_published(std::move(race), race::safeguard_descriptions)
                        : std::move(race);
  }
  if (store == c_hint_name) {
    std::unique_ptr<explorer::Program> c_hint = c_hint_scenario::make_program(std::move(adjust));
    return is_published ? as_published(std::move(c_hint), c_hint::safeguard_descriptions)
                        : std::move(c_hint);
  }
  if (store == swarm_name) {
    std::unique_ptr<explorer::Program> swarm = swarm_scenario::make_program(std::move(adjust));
    return is_published ? as_published(std::move(swarm), swarm::safeguard_descriptions)
                        : std::move(swarm);
  }
  for (const TwoSidedStore& two_sided : two_sided_stores) {
    if (store == two_sided.name) {
      return create_two_sided(two_sided.transport, is_published, std::move(adjust));
    }
  }
  std::unique_ptr<explorer::Program> pilaf = pilaf_scenario::make_program(
      store == pilaf_vo_name ? pilaf::GetPath::messages : pilaf::GetPath::reads, std::move(adjust));
  return is_published ? as_published(std::move(pilaf), pilaf::safeguard_descriptions)
                      : std::move(pilaf);
}

}  // namespace

std::vector<std::string> compared_stores() {
  std::vector<std::string> names{std::string(c_hint_name),
                                 std::string(pilaf_name),
                                 std::string(pilaf_vo_name),
                                 std::string(cluster_name),
                                 std::string(changing_cluster_name),
                                 std::string(replicated_name),
                                 std::string(race_name),
                                 std::string(swarm_name)};
  for (const nessie::Architecture architecture : nessie_architectures) {
    names.push_back(nessie_scenario::name_of({.architecture = architecture}));
  }
  for (const TwoSidedStore& store : two_sided_stores) names.emplace_back(store.name);
  return names;
}

std::unique_ptr<explorer::Program> create_compared_store(const std::string& store) {
  return create(store, false, {}, {});
}

std::string changing_cluster_program(const CampaignTexts& texts) {
  return cluster_scenario::name_of(parse_changing_runs(texts));
}

std::vector<std::unique_ptr<explorer::Program>> variants_of_compared_stores() {
  std::vector<std::unique_ptr<explorer::Program>> programs;
  for (const WarmRuns warm : {WarmRuns::none, WarmRuns::some, WarmRuns::only}) {
    for (const bool are_caches : {false, true}) {
      const ChangingRuns runs{.warm = warm, .are_caches = are_caches};
      if (runs == ChangingRuns()) continue;
      programs.push_back(cluster_scenario::make_changing_program(runs));
    }
  }
  for (const nessie::Architecture architecture : nessie_architectures) {
    programs.push_back(create_nessie(architecture, true, {}));
  }
  return programs;
}

tl::expected<std::unique_ptr<explorer::Program>, std::string> create_compared_campaign(
    const std::string& store, const CampaignTexts& texts) {
  if (has_options_of_falafel(texts)) {
    return tl::unexpected(
        std::string("--clients, --operations, --in-flight, --slots, --keys, --location-cache, "
                    "--fingerprint-bits, --size-class-bits, --workload, --tag-worlds, --blocks and "
                    "--hostile fix scenarios of Falafel; leave them out, or use --store falafel"));
  }
  if (texts.warm_restarts != "none" && store != changing_cluster_name) {
    return tl::unexpected(fmt::format(
        "--warm-restarts: servers of {} do not start over their memory; leave it out, or use "
        "--store falafel or --store {}",
        store, changing_cluster_name));
  }
  const bool may_be_caches = texts.caches == "only" && store == changing_cluster_name;
  if (texts.caches != "none" && !may_be_caches) {
    return tl::unexpected(fmt::format(
        "--caches {}: servers of {} cannot be caches; leave it out, or use --store falafel or "
        "--store {} with --caches only",
        texts.caches, store, changing_cluster_name));
  }
  auto choices = parse_simulation(texts.simulation);
  if (!choices) return tl::unexpected(choices.error());
  std::unique_ptr<explorer::Program> program =
      create(store, texts.protocol == "published", parse_changing_runs(texts),
             [choices = std::move(*choices)](sim::SimulationOptions& simulation) {
               apply(choices, simulation);
             });
  const std::vector<std::string> all = program->safeguards();
  for (const std::string& name : texts.without) {
    if (std::ranges::find(all, name) == all.end()) {
      return tl::unexpected(fmt::format("--without {}: unknown safeguard of {}; choose one of {}",
                                        name, store, fmt::join(all, ", ")));
    }
    program = program->without(name);
  }
  return program;
}

}  // namespace falafel::command_line
