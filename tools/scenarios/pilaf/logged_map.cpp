#include "tools/scenarios/pilaf/logged_map.h"

#include <fmt/format.h>

#include <type_traits>

namespace falafel::pilaf_scenario {

std::optional<LoggedMap::Map::Operation> LoggedMap::operation_on_key(const Operation& operation) {
  return std::visit(
      [](const auto& any) -> std::optional<Map::Operation> {
        if constexpr (std::is_convertible_v<decltype(any), Map::Operation>) {
          return any;
        } else {
          return std::nullopt;
        }
      },
      operation);
}

bool LoggedMap::apply(State& state, const Operation& operation, const Result* result) {
  if (const auto* const survive = std::get_if<Survive>(&operation)) {
    return state == survive->contents;
  }
  if (const auto* const restart = std::get_if<Restart>(&operation)) {
    state = restart->contents;
    return true;
  }
  const Map::Operation on_key = *operation_on_key(operation);
  const std::string key = std::visit([](const auto& any) { return any.key; }, on_key);
  const auto found = state.find(key);
  Map::State value = found == state.end() ? Map::State() : Map::State(found->second);
  if (!Map::apply(value, on_key, result)) return false;
  if (value) {
    state[key] = *value;
  } else {
    state.erase(key);
  }
  return true;
}

bool LoggedMap::only_reads(const Operation& operation, const Result* result) {
  if (std::holds_alternative<Survive>(operation)) return true;
  const auto on_key = operation_on_key(operation);
  return on_key && Map::only_reads(*on_key, result);
}

std::string LoggedMap::describe(const Operation& operation, const Result* result) {
  if (const auto* const survive = std::get_if<Survive>(&operation)) {
    return "a restart will find " + describe(survive->contents);
  }
  if (const auto* const restart = std::get_if<Restart>(&operation)) {
    return "restart with " + describe(restart->contents);
  }
  return Map::describe(*operation_on_key(operation), result);
}

std::string LoggedMap::describe(const State& state) {
  std::string text;
  for (const auto& [key, value] : state) {
    text += fmt::format("{}{}: {}", text.empty() ? "" : ", ", key, value);
  }
  return "{" + text + "}";
}

}  // namespace falafel::pilaf_scenario
