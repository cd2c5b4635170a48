#include "checkers/formats/specification_fields.h"

#include <fmt/format.h>

#include <algorithm>

namespace falafel::checkers::formats {

std::string quote_json(const json& value) {
  return shortened(value.dump(-1, ' ', true, json::error_handler_t::replace));
}

JsonValue JsonTexts::scalar(const json& value, std::string_view name) {
  if (value.is_primitive()) return {*texts_.insert(value.dump()).first};
  reject(fmt::format("{} is {}, but must be a number, a string, a boolean or null", name,
                     quote_json(value)));
}

std::vector<JsonValue> JsonTexts::scalars(const json& array, std::string_view name) {
  if (!array.is_array()) {
    reject(fmt::format("{} is {}, but must be an array", name, quote_json(array)));
  }
  std::vector<JsonValue> result;
  for (const json& value : array) result.push_back(scalar(value, name));
  return result;
}

bool Fields::has(const std::string& name) const { return object_.contains(name); }

const json& Fields::at(const std::string& name) {
  const auto found = object_.find(name);
  if (found == object_.end()) reject(fmt::format("\"{}\" is missing; add it", name));
  read_.push_back(&*found);
  return *found;
}

std::uint64_t Fields::number(const std::string& name) {
  const json& value = at(name);
  if (value.is_number_unsigned()) return value.get<std::uint64_t>();
  reject(
      fmt::format("\"{}\" is {}, but must be an unsigned 64-bit integer", name, quote_json(value)));
}

bool Fields::flag(const std::string& name) {
  const json& value = at(name);
  if (value.is_boolean()) return value.get<bool>();
  reject(fmt::format("\"{}\" is {}, but must be true or false", name, quote_json(value)));
}

std::string Fields::text(const std::string& name) {
  const json& value = at(name);
  if (value.is_string()) return value.get<std::string>();
  reject(fmt::format("\"{}\" is {}, but must be a string", name, quote_json(value)));
}

JsonValue Fields::value(const std::string& name) {
  return texts_.scalar(at(name), fmt::format("\"{}\"", name));
}

std::optional<JsonValue> Fields::found(const std::string& name) {
  const JsonValue scalar = value(name);
  return scalar == JsonValue() ? std::nullopt : std::optional(scalar);
}

std::vector<JsonValue> Fields::values(const std::string& name) {
  return texts_.scalars(at(name), fmt::format("\"{}\"", name));
}

json Fields::others(std::span<const std::string_view> names) {
  json others = json::object();
  for (const auto& [name, value] : object_.items()) {
    if (std::ranges::find(names, name) != names.end()) continue;
    others[name] = value;
    read_.push_back(&value);
  }
  return others;
}

void Fields::require_all_read() const {
  for (const auto& [name, value] : object_.items()) {
    if (std::ranges::find(read_, &value) == read_.end()) {
      reject(fmt::format("\"{}\" is unexpected here; remove it", shortened(name)));
    }
  }
}

void reject_operation(const std::string& operation, std::string_view known) {
  reject(
      fmt::format("the operation is \"{}\", but must be one of: {}", shortened(operation), known));
}

}  // namespace falafel::checkers::formats
