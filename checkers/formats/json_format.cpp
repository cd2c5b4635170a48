// Within this file, errors are exceptions; operation_from_json() converts them to values.
#include "checkers/formats/json_format.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "checkers/formats/messages.h"
#include "checkers/formats/numbers.h"
#include "checkers/utf8.h"

namespace falafel::checkers::formats {

namespace {

using checkers::Answer;
using checkers::Operation;
using checkers::OperationKind;
using nlohmann::json;

constexpr std::array<std::pair<std::string_view, OperationKind>, 5> kinds = {{
    {"get", OperationKind::get},
    {"set", OperationKind::set},
    {"delete", OperationKind::remove},
    {"compare_and_swap", OperationKind::compare_and_swap},
    {"append", OperationKind::append},
}};

constexpr std::array<std::pair<std::string_view, Answer>, 8> outcomes = {{
    {"indeterminate", Answer::indeterminate},
    {"refused", Answer::refused},
    {"found", Answer::found},
    {"not_found", Answer::not_found},
    {"stored", Answer::stored},
    {"deleted", Answer::deleted},
    {"swapped", Answer::swapped},
    {"not_swapped", Answer::not_swapped},
}};

[[noreturn]] void refuse(const std::string& message) { throw std::runtime_error(message); }

std::string quote(const json& value) {
  return shortened(value.dump(-1, ' ', true, json::error_handler_t::replace));
}

template <typename Table>
auto named(const Table& table, const json& object, const std::string& field) {
  const json& value = object.at(field);
  for (const auto& [name, meaning] : table) {
    if (value == name) return meaning;
  }
  refuse(fmt::format("unknown {} {}", field, quote(value)));
}

template <typename Table, typename Meaning>
std::string_view name_of(const Table& table, Meaning meaning) {
  for (const auto& [name, candidate] : table) {
    if (candidate == meaning) return name;
  }
  return "";
}

std::uint64_t number(const json& object, const std::string& field) {
  const json& value = object.at(field);
  if (!value.is_number_unsigned()) {
    refuse(fmt::format("{} is {}, but must be an unsigned 64-bit integer", field, quote(value)));
  }
  return value.get<std::uint64_t>();
}

// Reads text, or {"hex": "00ff"} for other bytes.
std::string bytes_of(const json& value, const std::string& field) {
  if (value.is_string()) return value.get<std::string>();
  const bool has_hex =
      value.is_object() && value.size() == 1 && value.contains("hex") && value["hex"].is_string();
  if (!has_hex) {
    refuse(fmt::format("{} is {}, but must be a string or {{\"hex\": ...}}", field, quote(value)));
  }
  const auto digits = value["hex"].get<std::string>();
  std::string bytes;
  for (std::size_t index = 0; index < digits.size(); index += 2) {
    const auto byte = parse_number<std::uint8_t>(digits.substr(index, 2), 16);
    if (!byte || digits.size() % 2 != 0) {
      refuse(fmt::format("{} is {}, but must be pairs of hexadecimal digits", field, quote(value)));
    }
    bytes += static_cast<char>(*byte);
  }
  return bytes;
}

bool has_value(const Operation& operation) {
  if (operation.kind == OperationKind::remove) return false;
  return operation.kind != OperationKind::get || operation.answer == Answer::found;
}

// Checks that the object has exactly the fields of the operation.
void check_fields(const json& object, const Operation& operation) {
  std::vector<std::string> fields = {"client", "key", "kind", "call", "outcome"};
  if (has_value(operation)) fields.emplace_back("value");
  if (operation.kind == OperationKind::compare_and_swap) fields.emplace_back("expected");
  if (operation.answer != Answer::indeterminate) fields.emplace_back("return");
  for (const std::string& field : fields) {
    if (!object.contains(field)) refuse(fmt::format("{} is missing", field));
  }
  for (const auto& [field, value] : object.items()) {
    if (std::ranges::find(fields, field) == fields.end()) {
      refuse(fmt::format("unexpected field {}", quote(field)));
    }
  }
}

void read_times(Operation& operation, const json& object) {
  operation.call_time = number(object, "call");
  if (operation.answer == Answer::indeterminate) return;
  operation.return_time = number(object, "return");
  if (operation.return_time < operation.call_time) {
    refuse(fmt::format("the operation returns at {}, before its call at {}", operation.return_time,
                       operation.call_time));
  }
}

Operation read_operation(const json& object) {
  if (!object.is_object()) refuse(fmt::format("{} is not a JSON object", quote(object)));
  for (const char* field : {"kind", "outcome"}) {
    if (!object.contains(field)) refuse(fmt::format("{} is missing", field));
  }
  Operation operation;
  operation.kind = named(kinds, object, "kind");
  operation.answer = named(outcomes, object, "outcome");
  if (!can_answer(operation.kind, operation.answer)) {
    refuse(fmt::format("the outcome of {} cannot be {}", quote(object["kind"]),
                       quote(object["outcome"])));
  }
  check_fields(object, operation);
  const std::uint64_t client = number(object, "client");
  if (client > UINT32_MAX) refuse(fmt::format("client {} exceeds 32 bits", client));
  operation.client = static_cast<std::uint32_t>(client);
  operation.key = bytes_of(object["key"], "key");
  if (has_value(operation)) operation.value = bytes_of(object["value"], "value");
  if (operation.kind == OperationKind::compare_and_swap && !object["expected"].is_null()) {
    operation.expected = bytes_of(object["expected"], "expected");
  }
  read_times(operation, object);
  return operation;
}

}  // namespace

nlohmann::ordered_json bytes_to_json(std::string_view bytes) {
  if (!find_invalid_utf8(bytes)) return std::string(bytes);
  std::string digits;
  for (const char character : bytes) {
    digits += fmt::format("{:02x}", static_cast<unsigned char>(character));
  }
  return {{"hex", digits}};
}

nlohmann::ordered_json operation_to_json(const Operation& operation) {
  nlohmann::ordered_json object;
  object["client"] = operation.client;
  object["key"] = bytes_to_json(operation.key);
  object["kind"] = name_of(kinds, operation.kind);
  if (operation.kind == OperationKind::compare_and_swap) {
    object["expected"] = nullptr;
    if (operation.expected) object["expected"] = bytes_to_json(*operation.expected);
  }
  if (has_value(operation)) object["value"] = bytes_to_json(operation.value);
  object["call"] = operation.call_time;
  if (operation.answer != Answer::indeterminate) object["return"] = operation.return_time;
  object["outcome"] = name_of(outcomes, operation.answer);
  return object;
}

tl::expected<Operation, std::string> operation_from_json(const json& object) {
  try {
    return read_operation(object);
  } catch (const std::exception& error) {
    return tl::unexpected<std::string>(error.what());
  }
}

}  // namespace falafel::checkers::formats
