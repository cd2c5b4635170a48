#include "tools/command_line/top/screen.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <tuple>

#include "tools/server/server_report.h"

namespace falafel::top {
namespace {

std::string bytes_text(std::uint64_t bytes) {
  constexpr std::array units{"B", "KiB", "MiB", "GiB", "TiB"};
  double value = static_cast<double>(bytes);
  std::size_t unit = 0;
  for (; value >= 1024 && unit + 1 < units.size(); ++unit) value /= 1024;
  return unit == 0 ? fmt::format("{} B", bytes) : fmt::format("{:.1f} {}", value, units[unit]);
}

std::string duration_text(double seconds) {
  const auto whole = static_cast<std::uint64_t>(seconds);
  if (whole < 60) return fmt::format("{} s", whole);
  if (whole < 3'600) return fmt::format("{} min {:02} s", whole / 60, whole % 60);
  if (whole < 86'400) return fmt::format("{} h {:02} min", whole / 3'600, whole / 60 % 60);
  return fmt::format("{} d {:02} h", whole / 86'400, whole / 3'600 % 24);
}

std::string bar(std::uint64_t part, std::uint64_t whole, std::size_t width) {
  const double share = whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
  const auto filled = static_cast<std::size_t>(std::lround(share * static_cast<double>(width)));
  return std::string(std::min(filled, width), '#') +
         std::string(width - std::min(filled, width), '.');
}

const Sample* earlier_of(const View& view) { return view.earlier ? &*view.earlier : nullptr; }

void add_head(const View& view, std::vector<std::string>& lines) {
  lines.push_back(
      fmt::format("falafel top - '{}', every {:g} s; q quits", view.name, view.interval_seconds));
  if (!view.problem.empty()) {
    lines.push_back(
        fmt::format("SERVER AWAY for {}: {}", duration_text(view.seconds_away), view.problem));
  }
  if (!view.now) return;
  const Sample& now = *view.now;
  lines.push_back(fmt::format("process {}, up {}{}", now.process_id,
                              duration_text(static_cast<double>(now.uptime_ns) / 1e9),
                              view.problem.empty() ? "" : "; the last report follows"));
  lines.push_back(fmt::format(
      "clients {} of {}: {} awaited, {} in quarantine, {} leaving; {} requests for a region wait; "
      "{}",
      now.clients.size(), now.max_clients, now.clients_with(&ClientSample::awaited),
      now.clients_with(&ClientSample::quarantined), now.clients_with(&ClientSample::leaving),
      now.requests_waiting, now.is_idle ? "idle" : "busy"));
}

void add_memory(const Sample& now, std::size_t columns, std::vector<std::string>& lines) {
  constexpr std::size_t beside_the_bar = 44;
  const std::size_t width = columns > beside_the_bar + 8 ? columns - beside_the_bar : 8;
  const std::string held = now.held_bytes < now.memory_bytes
                               ? fmt::format(" at most, {} held", bytes_text(now.held_bytes))
                               : "";
  lines.push_back(fmt::format("memory {}{}, {} regions, table of {} entries{}",
                              bytes_text(now.memory_bytes), held, now.region_count,
                              now.table_entries, now.is_table_growing ? ", growing" : ""));
  for (const auto& [name, bytes] : now.parts) {
    if (bytes * 1'000 < now.memory_bytes) continue;  // fixed parts, too small to matter
    lines.push_back(
        fmt::format("  {:<22}{:>12} {:5.1f}% {}", name, bytes_text(bytes),
                    100 * static_cast<double>(bytes) / static_cast<double>(now.memory_bytes),
                    bar(bytes, now.memory_bytes, std::min<std::size_t>(width, 50))));
  }
}

void add_counters(const View& view, std::vector<std::string>& lines) {
  lines.push_back(fmt::format("  {:<24}{:>14}{:>18}", "", "per second", "since the start"));
  for (const server_program::Counter& counter : server_program::counters()) {
    const auto total = view.now->counters.find(std::string(counter.name));
    if (total == view.now->counters.end()) continue;
    const auto rate = rate_of(counter.name, earlier_of(view), *view.now);
    std::string name(counter.name);
    std::ranges::replace(name, '_', ' ');
    lines.push_back(fmt::format("  {:<24}{:>14}{:>18}", name,
                                rate ? fmt::format("{:.1f}", *rate) : "-", total->second));
  }
}

std::string_view state_of(const ClientSample& client) {
  if (client.quarantined) return "in quarantine";
  if (client.awaited) return "memory waits for it";
  return client.leaving ? "leaving" : "";
}

void add_clients(const Sample& now, std::vector<std::string>& lines) {
  if (now.clients.empty()) return;
  std::vector<ClientSample> clients = now.clients;
  // Clients that need attention come first, because the screen may end.
  std::ranges::stable_sort(clients, std::greater(), [](const ClientSample& client) {
    return std::tuple(client.quarantined, client.awaited, client.leaving, client.silence_ns);
  });
  lines.push_back(fmt::format("  {:>8}{:>10}{:>12}", "client", "regions", "silent"));
  for (const ClientSample& client : clients) {
    lines.push_back(fmt::format("  {:>8}{:>10}{:>10.1f} s  {}", client.number, client.regions,
                                static_cast<double>(client.silence_ns) / 1e9, state_of(client)));
  }
}

}  // namespace

std::vector<std::string> draw_screen(const View& view, const ScreenSize& size) {
  std::vector<std::string> lines;
  add_head(view, lines);
  if (view.now) {
    lines.emplace_back();
    add_memory(*view.now, size.columns, lines);
    lines.emplace_back();
    add_clients(*view.now, lines);
    add_counters(view, lines);
  }
  if (lines.size() > size.rows) lines.resize(size.rows);
  for (std::string& line : lines) line.resize(std::min(line.size(), size.columns));
  return lines;
}

std::string draw_line(const View& view) {
  if (!view.problem.empty() || !view.now) return fmt::format("up=0 name={}", view.name);
  const Sample& now = *view.now;
  std::string line = fmt::format(
      "up=1 name={} process={} uptime_seconds={:.1f} clients={} max_clients={} clients_awaited={} "
      "clients_quarantined={} requests_waiting={} idle={} memory_bytes={} memory_held_bytes={} "
      "mature_used_bytes={} "
      "table_entries={} table_growing={}",
      now.name, now.process_id, static_cast<double>(now.uptime_ns) / 1e9, now.clients.size(),
      now.max_clients, now.clients_with(&ClientSample::awaited),
      now.clients_with(&ClientSample::quarantined), now.requests_waiting, now.is_idle ? 1 : 0,
      now.memory_bytes, now.held_bytes, now.used_mature_bytes(), now.table_entries,
      now.is_table_growing ? 1 : 0);
  for (const std::string state : {"free", "granted", "released", "collecting", "waiting"}) {
    line += fmt::format(" regions_in_state_{}={}", state, now.regions_in(state));
  }
  for (const server_program::Counter& counter : server_program::counters()) {
    const auto total = now.counters.find(std::string(counter.name));
    if (total == now.counters.end()) continue;
    line += fmt::format(" {}={}", counter.name, total->second);
    if (const auto rate = rate_of(counter.name, earlier_of(view), now)) {
      line += fmt::format(" {}_per_second={:.1f}", counter.name, *rate);
    }
  }
  return line;
}

}  // namespace falafel::top
