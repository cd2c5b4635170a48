#include "explorer/timeline/key_steps_table.h"

#include <fmt/format.h>

#include <string_view>

namespace falafel::timeline {
namespace {

// Escapes all markup.
std::string escape(std::string_view text) {
  constexpr std::string_view special = "\\`*_<>|[]";
  std::string escaped;
  for (const char character : text) {
    if (special.find(character) != std::string_view::npos) escaped += '\\';
    escaped += character == '\n' ? ' ' : character;
  }
  return escaped;
}

}  // namespace

std::string to_markdown_table(const Timeline& timeline) {
  std::string table = "| | Step | Who | What |\n| --: | --: | --- | --- |\n";
  std::size_t number = 0;
  for (const KeyStep& key_step : timeline.key_steps) {
    const std::string who = key_step.lane == none ? "" : timeline.lanes[key_step.lane].name;
    const bool is_heavy =
        key_step.role == KeyStepRole::critical || key_step.role == KeyStepRole::violation;
    table += fmt::format("| {} | {} | {} | {}{}{} |\n", ++number, key_step.step, who,
                         is_heavy ? "**" : "", escape(key_step.text), is_heavy ? "**" : "");
  }
  return table;
}

}  // namespace falafel::timeline
