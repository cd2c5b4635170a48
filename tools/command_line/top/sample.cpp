#include "tools/command_line/top/sample.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace falafel::top {
namespace {

using Json = nlohmann::json;

// Throws what nlohmann::json throws if the report has another form.
Sample from_json(const Json& report) {
  Sample sample;
  report.at("name").get_to(sample.name);
  report.at("process_id").get_to(sample.process_id);
  report.at("uptime_ns").get_to(sample.uptime_ns);
  report.at("max_clients").get_to(sample.max_clients);
  report.at("chunk").at("bytes").get_to(sample.memory_bytes);
  // Servers of earlier releases hold all of it.
  sample.held_bytes = report.at("chunk").value("held_bytes", sample.memory_bytes);
  report.at("geometry").at("region_count").get_to(sample.region_count);
  const Json& tables = report.at("tables");
  tables.at("entries").get_to(sample.table_entries);
  sample.is_table_growing = tables.at("first") != tables.at("last");
  for (const Json& part : report.at("chunk").at("parts")) {
    sample.parts.emplace_back(part.at("part"), part.at("bytes"));
  }
  report.at("regions").get_to(sample.regions);
  for (const Json& client : report.at("clients")) {
    sample.clients.push_back({.number = client.at("number"),
                              .regions = client.at("regions").size(),
                              .silence_ns = client.at("silence_ns"),
                              .awaited = client.at("awaited"),
                              .leaving = client.at("leaving"),
                              .quarantined = client.at("quarantined")});
  }
  report.at("requests_waiting").get_to(sample.requests_waiting);
  report.at("statistics").get_to(sample.counters);
  report.at("idle").get_to(sample.is_idle);
  return sample;
}

}  // namespace

std::uint64_t Sample::used_mature_bytes() const {
  std::uint64_t bytes = 0;
  for (const auto& [part, size] : parts) {
    if (part.starts_with("mature space") && part.ends_with("used")) bytes += size;
  }
  return bytes;
}

std::uint64_t Sample::clients_with(bool ClientSample::*property) const {
  return static_cast<std::uint64_t>(std::ranges::count(clients, true, property));
}

fabric::Result<Sample> parse_sample(std::string_view json) {
  try {
    return from_json(Json::parse(json));
  } catch (const Json::exception&) {
    return fabric::make_error(
        fabric::ErrorCode::invalid_argument,
        "the server's report has another form; use the falafel of its version");
  }
}

fabric::Result<Sample> take_sample(const std::filesystem::path& socket) {
  constexpr std::chrono::seconds patience(2);
  const auto report =
      server_program::request_status(socket, server_program::ReportFormat::json, patience);
  if (!report) return tl::unexpected(report.error());
  return parse_sample(*report);
}

std::optional<double> rate_of(std::string_view counter, const Sample* earlier, const Sample& now) {
  if (earlier == nullptr || earlier->process_id != now.process_id ||
      earlier->uptime_ns >= now.uptime_ns) {
    return std::nullopt;
  }
  const auto before = earlier->counters.find(std::string(counter));
  const auto after = now.counters.find(std::string(counter));
  if (before == earlier->counters.end() || after == now.counters.end()) return std::nullopt;
  return static_cast<double>(after->second - before->second) * 1e9 /
         static_cast<double>(now.uptime_ns - earlier->uptime_ns);
}

}  // namespace falafel::top
