#include "explorer/commands/known_findings.h"

#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

namespace falafel::command_line {
namespace {

constexpr std::string_view format_name = "falafel known findings";
constexpr std::uint64_t format_version = 1;

}  // namespace

tl::expected<KnownFindings, std::string> KnownFindings::load(const std::string& path) {
  KnownFindings known;
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) return known;
  std::ifstream file(path, std::ios::binary);
  file.peek();  // fails for a directory
  if (!file.is_open() || file.bad()) {
    return tl::unexpected(fmt::format("{}: cannot be read; name another file", path));
  }
  const auto json = nlohmann::json::parse(file, nullptr, false);
  const bool is_ours = json.is_object() && json.value("format", nlohmann::json()) == format_name &&
                       json.value("version", nlohmann::json()) == format_version;
  if (!is_ours) {
    return tl::unexpected(
        fmt::format("{}: this is no file of known findings; name another file", path));
  }
  try {
    for (const auto& finding : json.at("findings")) {
      known.add(finding.at("property").get<std::string>(),
                finding.at("fingerprint").get<std::string>(), finding.at("seed"));
    }
  } catch (const nlohmann::json::exception&) {
    return tl::unexpected(fmt::format(
        "{}: a finding lacks its property, fingerprint or seed; name another file", path));
  }
  return known;
}

bool KnownFindings::has(std::string_view property, std::string_view fingerprint) const {
  return seeds_.contains({std::string(property), std::string(fingerprint)});
}

void KnownFindings::add(std::string_view property, std::string_view fingerprint,
                        std::uint64_t seed) {
  seeds_.try_emplace({std::string(property), std::string(fingerprint)}, seed);
}

tl::expected<void, std::string> KnownFindings::save(const std::string& path) const {
  nlohmann::json findings = nlohmann::json::array();
  for (const auto& [identity, seed] : seeds_) {
    findings.push_back(
        {{"property", identity.first}, {"fingerprint", identity.second}, {"seed", seed}});
  }
  const std::string written = path + ".new";
  std::ofstream file(written, std::ios::binary | std::ios::trunc);
  file << nlohmann::json{{"format", format_name},
                         {"version", format_version},
                         {"findings", std::move(findings)}}
              .dump(2, ' ', true, nlohmann::json::error_handler_t::replace)
       << '\n';
  file.close();
  if (!file || std::rename(written.c_str(), path.c_str()) != 0) {
    return tl::unexpected(fmt::format("{}: cannot write the file; check its folder", path));
  }
  return {};
}

}  // namespace falafel::command_line
