// The fields of an operation of a recorded history, as JSON. Errors are exceptions of type
// std::runtime_error.
#pragma once

#include <compare>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "checkers/formats/messages.h"

namespace falafel::checkers::formats {

using nlohmann::json;

// A value of the file: a JSON number, string, boolean or null. JsonTexts owns its JSON text, so
// copying a value allocates nothing.
struct JsonValue {
  std::string_view text = "null";

  // Hashed as a range of characters.
  std::string_view::const_iterator begin() const { return text.begin(); }
  std::string_view::const_iterator end() const { return text.end(); }
  // Names the part of an object: the whole text, which messages shorten.
  // NOLINTNEXTLINE(google-explicit-constructor)
  operator std::string_view() const { return text; }
  friend bool operator==(const JsonValue&, const JsonValue&) = default;
  friend std::strong_ordering operator<=>(const JsonValue&, const JsonValue&) = default;
};

inline std::string describe_value(const JsonValue& value) { return shortened(value.text); }

std::string quote_json(const json& value);

// The texts of all values of a history.
class JsonTexts {
 public:
  JsonTexts() = default;
  JsonTexts(const JsonTexts&) = delete;
  JsonTexts& operator=(const JsonTexts&) = delete;

  // A scalar; `name` is that of its place in messages.
  JsonValue scalar(const json& value, std::string_view name);
  std::vector<JsonValue> scalars(const json& array, std::string_view name);

 private:
  std::set<std::string> texts_;
};

// Every field must be read.
class Fields {
 public:
  // `texts` must outlive the values.
  Fields(const json& object, JsonTexts& texts) : object_(object), texts_(texts) {}

  bool has(const std::string& name) const;
  const json& at(const std::string& name);
  std::uint64_t number(const std::string& name);
  bool flag(const std::string& name);
  std::string text(const std::string& name);
  JsonValue value(const std::string& name);
  // Null stands for no value.
  std::optional<JsonValue> found(const std::string& name);
  std::vector<JsonValue> values(const std::string& name);
  // An object of all fields with other names.
  json others(std::span<const std::string_view> names);
  // A scalar within a field; `place` names it in messages.
  JsonValue scalar(const json& value, std::string_view place) {
    return texts_.scalar(value, place);
  }

  void require_all_read() const;

 private:
  const json& object_;
  JsonTexts& texts_;
  std::vector<const json*> read_;
};

[[noreturn]] void reject_operation(const std::string& operation, std::string_view known);

}  // namespace falafel::checkers::formats
