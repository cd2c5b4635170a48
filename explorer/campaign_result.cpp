#include "explorer/campaign_result.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <numeric>
#include <stdexcept>
#include <system_error>

#include "fabric/assert.h"
#include "falafel_build_identity.h"

namespace falafel::explorer {
namespace {

// Keeps the order of probes and faults.
using Json = nlohmann::ordered_json;

constexpr std::string_view format_name = "falafel campaign results";
constexpr std::uint64_t format_version = 2;
constexpr std::uint64_t oldest_version = 1;  // has no first_reached

// A seed in both ranges. The ranges are finite.
std::optional<std::uint64_t> common_seed(const SeedRange& one, const SeedRange& other) {
  const SeedRange& coarse = one.stride >= other.stride ? one : other;
  const SeedRange& fine = one.stride >= other.stride ? other : one;
  const std::uint64_t end = fine.first + fine.count * fine.stride;
  // The period of the remainders, in seeds of the coarse range.
  const std::uint64_t period = fine.stride / std::gcd(fine.stride, coarse.stride);
  const std::uint64_t skipped =
      fine.first <= coarse.first ? 0
                                 : (fine.first - coarse.first + coarse.stride - 1) / coarse.stride;
  for (std::uint64_t index = skipped; index < std::min(coarse.count, skipped + period); ++index) {
    const std::uint64_t seed = coarse.first + index * coarse.stride;
    if (seed < end && (seed - fine.first) % fine.stride == 0) return seed;
  }
  return std::nullopt;
}

void add_range(std::vector<SeedRange>& seeds, const SeedRange& range) {
  const auto before = std::ranges::find_if(seeds, [&](const SeedRange& known) {
    return known.stride == range.stride && known.first + known.count * known.stride == range.first;
  });
  if (before == seeds.end()) {
    seeds.push_back(range);
  } else {
    before->count += range.count;
  }
}

std::string describe(const std::map<std::string, std::vector<std::string>>& options) {
  std::string text;
  for (const auto& [name, values] : options) {
    text += (text.empty() ? "" : " ") + name;
    for (const std::string& value : values) text += " " + value;
  }
  return text.empty() ? "none" : text;
}

// Empty: they add up.
std::string difference(const CampaignIdentity& one, const CampaignIdentity& other) {
  if (one.program != other.program) {
    return fmt::format("one is of the program {}, the other of {}", one.program, other.program);
  }
  if (one.options != other.options) {
    return fmt::format("the options of one are {}, those of the other {}", describe(one.options),
                       describe(other.options));
  }
  if (one.build != other.build) {
    return fmt::format("one was made by the build {}, the other by {}", one.build, other.build);
  }
  return {};
}

bool have_equal_names(const NamedCounts& one, const NamedCounts& other) {
  return std::ranges::equal(one, other, {}, &NamedCounts::value_type::first,
                            &NamedCounts::value_type::first);
}

void add_counts(NamedCounts& sum, const NamedCounts& part) {
  if (sum.empty()) sum = NamedCounts(part.size());
  for (std::size_t index = 0; index < part.size(); ++index) {
    sum[index].first = part[index].first;
    sum[index].second += part[index].second;
  }
}

void add_counts(std::map<std::string, std::uint64_t>& sum,
                const std::map<std::string, std::uint64_t>& part) {
  for (const auto& [name, count] : part) sum[name] += count;
}

Json to_json(const NamedCounts& counts) {
  Json json = Json::object();
  for (const auto& [name, count] : counts) json[name] = count;
  return json;
}

NamedCounts counts_from(const Json& json) {
  NamedCounts counts;
  for (const auto& [name, count] : json.items()) counts.emplace_back(name, count);
  return counts;
}

Json to_json(const std::map<std::string, FirstReach>& first_reached) {
  Json json = Json::object();
  for (const auto& [name, first] : first_reached) {
    json[name] = {{"seconds", first.seconds}, {"schedules", first.schedules}};
  }
  return json;
}

template <typename Counts>
void append_names(std::string_view kind, const Counts& counts, bool are_reached,
                  std::vector<std::string>& names) {
  for (const auto& [name, count] : counts) {
    if ((count > 0) == are_reached) names.push_back(fmt::format("{} {}", kind, name));
  }
}

std::vector<std::string> names_of(const CampaignResult& result, bool are_reached) {
  std::vector<std::string> names;
  append_names("probe", result.probes, are_reached, names);
  append_names("simulator", result.simulator_probes, are_reached, names);
  append_names("fault", result.faults, are_reached, names);
  append_names("condition", result.conditions, are_reached, names);
  return names;
}

UnjudgedSchedules unjudged_from(const Json& json) {
  UnjudgedSchedules unjudged;
  for (const auto& [property, schedules] : json.items()) {
    unjudged[property] = {.schedules = schedules.at("schedules"),
                          .seed = schedules.at("seed"),
                          .reason = schedules.at("reason")};
  }
  return unjudged;
}

Json to_json(const CampaignResult& result) {
  Json seeds = Json::array();
  for (const SeedRange& range : result.seeds) {
    seeds.push_back({{"first", range.first}, {"stride", range.stride}, {"count", range.count}});
  }
  Json violations = Json::array();
  for (const auto& [property, finding] : result.findings) {
    violations.push_back({{"property", property},
                          {"schedules", result.violations.at(property)},
                          {"seed", finding.seed},
                          {"steps", finding.steps},
                          {"explanation", finding.explanation}});
  }
  return {{"format", format_name},
          {"version", format_version},
          {"program", result.identity.program},
          {"build", result.identity.build},
          {"options", result.identity.options},
          {"seeds", std::move(seeds)},
          {"schedules", result.schedules},
          {"steps", result.steps},
          {"hash", fmt::format("{:016x}", result.hash)},
          {"unknown", result.unknown},
          {"unjudged", to_json(result.unjudged)},
          {"seconds", result.seconds},
          {"violations", std::move(violations)},
          {"conditions", result.conditions},
          {"probes", to_json(result.probes)},
          {"simulator_probes", to_json(result.simulator_probes)},
          {"faults", to_json(result.faults)},
          {"first_reached", to_json(result.first_reached)}};
}

// Throws what nlohmann::json or std::stoull throw if the JSON has another form.
CampaignResult from_json(const Json& json) {
  constexpr std::uint64_t largest = std::uint64_t{1} << 62U;  // so that sums do not overflow
  CampaignResult result;
  json.at("program").get_to(result.identity.program);
  json.at("build").get_to(result.identity.build);
  json.at("options").get_to(result.identity.options);
  for (const Json& range : json.at("seeds")) {
    result.seeds.push_back(
        {.first = range.at("first"), .stride = range.at("stride"), .count = range.at("count")});
    const SeedRange& read = result.seeds.back();
    if (read.stride == 0 || read.count == 0 || read.first > largest ||
        read.count > largest / read.stride) {
      throw std::invalid_argument("a range of seeds is empty or too large");
    }
  }
  json.at("schedules").get_to(result.schedules);
  json.at("steps").get_to(result.steps);
  result.hash = std::stoull(json.at("hash").get<std::string>(), nullptr, 16);
  json.at("unknown").get_to(result.unknown);
  if (json.contains("unjudged")) result.unjudged = unjudged_from(json["unjudged"]);
  json.at("seconds").get_to(result.seconds);
  json.at("conditions").get_to(result.conditions);
  for (const Json& violation : json.at("violations")) {
    const std::string property = violation.at("property");
    result.violations[property] = violation.at("schedules");
    result.findings[property] = {.property = property,
                                 .seed = violation.at("seed"),
                                 .steps = violation.at("steps"),
                                 .explanation = violation.at("explanation")};
  }
  result.probes = counts_from(json.at("probes"));
  result.simulator_probes = counts_from(json.at("simulator_probes"));
  result.faults = counts_from(json.at("faults"));
  if (json.at("version") == oldest_version) return result;
  for (const auto& [name, first] : json.at("first_reached").items()) {
    result.first_reached[name] = {.seconds = first.at("seconds"),
                                  .schedules = first.at("schedules")};
  }
  return result;
}

std::string system_failure(const std::string& path, std::string_view what) {
  return fmt::format("{}: {}: {}", path, what, std::generic_category().message(errno));
}

}  // namespace

CampaignIdentity identify(const Program& program,
                          std::map<std::string, std::vector<std::string>> options) {
  return {.program = std::string(program.name()),
          .build = std::string(build::identity),
          .options = std::move(options)};
}

void add(UnjudgedSchedules& sum, const UnjudgedSchedules& part) {
  for (const auto& [property, unjudged] : part) {
    const auto [known, is_new] = sum.emplace(property, unjudged);
    if (is_new) continue;
    known->second.schedules += unjudged.schedules;
    if (unjudged.seed >= known->second.seed) continue;
    known->second.seed = unjudged.seed;
    known->second.reason = unjudged.reason;
  }
}

std::string to_text(const UnjudgedSchedules& unjudged) {
  std::string text;
  for (const auto& [property, schedules] : unjudged) {
    text += fmt::format("not judged: {} in {} schedules, first with seed {}: {}\n", property,
                        schedules.schedules, schedules.seed, schedules.reason);
  }
  return text;
}

nlohmann::json to_json(const UnjudgedSchedules& unjudged) {
  nlohmann::json json = nlohmann::json::object();
  for (const auto& [property, schedules] : unjudged) {
    json[property] = {
        {"schedules", schedules.schedules}, {"seed", schedules.seed}, {"reason", schedules.reason}};
  }
  return json;
}

std::uint64_t CampaignResult::seed_count() const {
  std::uint64_t count = 0;
  for (const SeedRange& range : seeds) count += range.count;
  return count;
}

std::uint64_t count_of(const NamedCounts& counts, std::string_view name) {
  const auto found = std::ranges::find(counts, name, &NamedCounts::value_type::first);
  return found == counts.end() ? 0 : found->second;
}

std::vector<std::string> names_reached(const CampaignResult& result) {
  return names_of(result, true);
}

std::vector<std::string> names_missed(const CampaignResult& result) {
  return names_of(result, false);
}

void note_first_reached(CampaignResult& result) {
  for (std::string& name : names_reached(result)) {
    result.first_reached.try_emplace(
        std::move(name), FirstReach{.seconds = result.seconds, .schedules = result.schedules});
  }
}

tl::expected<void, std::string> add(CampaignResult& sum, const CampaignResult& part) {
  if (sum.seeds.empty()) {
    const double seconds = sum.seconds;
    sum = part;
    sum.seconds += seconds;
    return {};
  }
  if (std::string text = difference(sum.identity, part.identity); !text.empty()) {
    return tl::unexpected(std::move(text));
  }
  if (!have_equal_names(sum.probes, part.probes) ||
      !have_equal_names(sum.simulator_probes, part.simulator_probes) ||
      !have_equal_names(sum.faults, part.faults)) {
    return tl::unexpected(std::string("they count different probes or faults"));
  }
  for (const SeedRange& one : sum.seeds) {
    for (const SeedRange& other : part.seeds) {
      if (const auto seed = common_seed(one, other)) {
        return tl::unexpected(fmt::format("both have run the seed {}", *seed));
      }
    }
  }
  const std::uint64_t seeds = sum.seed_count() + part.seed_count();
  for (const SeedRange& range : part.seeds) add_range(sum.seeds, range);
  FALAFEL_ASSERT(sum.seed_count() == seeds, "{} seeds became {}", seeds, sum.seed_count());
  sum.schedules += part.schedules;
  sum.steps += part.steps;
  sum.hash += part.hash;
  sum.unknown += part.unknown;
  add(sum.unjudged, part.unjudged);
  sum.seconds += part.seconds;
  add_counts(sum.probes, part.probes);
  add_counts(sum.simulator_probes, part.simulator_probes);
  add_counts(sum.faults, part.faults);
  add_counts(sum.conditions, part.conditions);
  add_counts(sum.violations, part.violations);
  for (const auto& [name, first] : part.first_reached) {
    const auto [known, is_new] = sum.first_reached.emplace(name, first);
    if (!is_new && first.seconds < known->second.seconds) known->second = first;
  }
  for (const auto& [property, finding] : part.findings) {
    const auto [known, is_new] = sum.findings.emplace(property, finding);
    if (!is_new && finding.seed < known->second.seed) known->second = finding;
  }
  return {};
}

tl::expected<void, std::string> save_result(const CampaignResult& result, const std::string& path) {
  const std::string written = path + ".new";
  std::ofstream file(written, std::ios::binary | std::ios::trunc);
  file << to_json(result).dump(2, ' ', true, Json::error_handler_t::replace) << '\n';
  file.close();
  if (!file) return tl::unexpected(system_failure(written, "cannot write the file"));
  if (std::rename(written.c_str(), path.c_str()) != 0) {
    return tl::unexpected(system_failure(path, "cannot replace the file"));
  }
  return {};
}

tl::expected<CampaignResult, std::string> load_result(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  file.peek();  // fails for a directory
  if (!file.is_open() || file.bad())
    return tl::unexpected(system_failure(path, "cannot read the file"));
  const Json json = Json::parse(file, nullptr, false);
  if (!json.is_object() || json.value("format", Json()) != format_name) {
    return tl::unexpected(fmt::format(
        "{}: this is no file of campaign results; `fuzz --results FILE` writes them", path));
  }
  const Json version = json.value("version", Json());
  if (version != format_version && version != oldest_version) {
    return tl::unexpected(
        fmt::format("{}: its version is neither {} nor {}; use the build that wrote it", path,
                    oldest_version, format_version));
  }
  try {
    return from_json(json);
  } catch (const Json::exception&) {
    return tl::unexpected(fmt::format(
        "{}: a value is missing or of another kind; use the build that wrote it", path));
  } catch (const std::exception& error) {
    return tl::unexpected(fmt::format("{}: {}", path, error.what()));
  }
}

}  // namespace falafel::explorer
