// Options by name, as the table in option_descriptions.cpp defines them.
#include "fabric/sim/options/options.h"

#include <fmt/format.h>
#include <algorithm>
#include <numeric>

namespace falafel::sim {

namespace {

constexpr std::size_t longest_quotation = 60;

// Texts come from files. A message shows only as much of them as helps, and no character that a
// terminal would interpret.
std::string quote(std::string_view text) {
  std::string shown(text.substr(0, longest_quotation));
  std::ranges::replace_if(
      shown, [](char character) { return character < ' ' || character > '~'; }, '?');
  return fmt::format("'{}{}'", shown, text.size() > longest_quotation ? "..." : "");
}

// The Levenshtein distance, computed row by row.
std::size_t edit_distance(std::string_view left, std::string_view right) {
  std::vector<std::size_t> row(right.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (const char character : left) {
    std::size_t diagonal = row[0]++;
    for (std::size_t column = 1; column < row.size(); ++column) {
      const std::size_t substituted = diagonal + (character == right[column - 1] ? 0 : 1);
      diagonal = row[column];
      row[column] = std::min({substituted, row[column - 1] + 1, row[column] + 1});
    }
  }
  return row.back();
}

std::string unknown_option(std::string_view name) {
  const auto nearest =
      std::ranges::min_element(option_descriptions(), {}, [name](const OptionDescription& option) {
        return edit_distance(name.substr(0, longest_quotation), option.name);
      });
  return fmt::format("unknown option {}; the nearest that exists is {}", quote(name),
                     nearest->name);
}

std::string invalid_value(const OptionDescription& option, std::string_view text) {
  return fmt::format("option {} cannot be {}; its values: {}", option.name, quote(text),
                     option.values);
}

}  // namespace

// The command line and replay files use these texts.
std::string_view to_string(StrategyKind kind) {
  switch (kind) {
    case StrategyKind::random: return "random";
    case StrategyKind::pct: return "pct";
    case StrategyKind::pos: return "pos";
    case StrategyKind::urw: return "urw";
  }
  return "unknown";
}

// These texts are part of the names of options.
std::string_view to_string(FaultKind kind) {
  switch (kind) {
    case FaultKind::client_crash: return "client_crash";
    case FaultKind::client_pause: return "client_pause";
    case FaultKind::queue_pair_error: return "queue_pair_error";
    case FaultKind::unreliable_loss: return "unreliable_loss";
    case FaultKind::datagram_reordering: return "datagram_reordering";
    case FaultKind::message_delay: return "message_delay";
    case FaultKind::late_packets: return "late_packets";
    case FaultKind::server_stall: return "server_stall";
    case FaultKind::server_restart: return "server_restart";
    case FaultKind::latency_spike: return "latency_spike";
    case FaultKind::client_stop: return "client_stop";
    case FaultKind::server_stop: return "server_stop";
    case FaultKind::registration_failure: return "registration_failure";
    case FaultKind::slow_landing: return "slow_landing";
    case FaultKind::clock_step: return "clock_step";
  }
  return "unknown";
}

std::optional<std::string> set_option(SimulationOptions& options, std::string_view name,
                                      std::string_view text) {
  const auto option = std::ranges::find(option_descriptions(), name, &OptionDescription::name);
  if (option == option_descriptions().end()) return unknown_option(name);
  if (!option->set(options, text)) return invalid_value(*option, text);
  return std::nullopt;
}

std::optional<std::string> find_invalid_option(const SimulationOptions& options) {
  for (const OptionDescription& option : option_descriptions()) {
    if (!option.is_valid(options)) return invalid_value(option, option.get(options));
  }
  return std::nullopt;
}

}  // namespace falafel::sim
