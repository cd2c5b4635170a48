// The descriptions of values in the shipped specifications. A program's own type of value needs a
// function `std::string describe_value(const Value&)` in the type's namespace.
#pragma once

#include <fmt/format.h>

#include <concepts>
#include <optional>
#include <string>
#include <string_view>

#include "checkers/history.h"

namespace falafel::checkers::specifications {

template <std::integral Value>
std::string describe_value(const Value& value) {
  return fmt::format("{}", value);
}

inline std::string describe_value(std::string_view value) { return quote(value); }

// The name of the part of an object that the value selects. Different values have different names.
template <typename Value>
std::string part_name(const Value& value) {
  if constexpr (std::convertible_to<const Value&, std::string_view>) {
    return std::string(std::string_view(value));
  } else {
    return describe_value(value);
  }
}

// "-> 7"; "-> nothing" if there is no value; "-> ?" if the answer is unknown.
template <typename Value>
std::string describe_found(const std::optional<Value>* result) {
  if (result == nullptr) return "-> ?";
  return *result ? "-> " + describe_value(**result) : "-> nothing";
}

inline std::string describe_yes_or_no(const bool* result) {
  if (result == nullptr) return "-> ?";
  return *result ? "-> yes" : "-> no";
}

template <typename Values>
std::string describe_values(const Values& values) {
  std::string text;
  for (const auto& value : values) text += (text.empty() ? "" : ", ") + describe_value(value);
  return "[" + text + "]";
}

}  // namespace falafel::checkers::specifications
