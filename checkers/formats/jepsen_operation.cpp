#include "checkers/formats/jepsen_operation.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>
#include <utility>

#include "checkers/formats/messages.h"
#include "checkers/formats/numbers.h"

namespace falafel::checkers::formats {

namespace {

using nlohmann::json;
using Type = EdnValue::Type;

struct Function {
  std::string_view name;
  std::string_view operation;
  std::string_view specification;  // empty: several have the function
};

constexpr std::array<Function, 11> functions = {{
    {":read", "read", ""},
    {":write", "write", "cas_register"},
    {":cas", "compare_and_swap", "cas_register"},
    {":enqueue", "push", "queue"},
    {":dequeue", "pop", "queue"},
    {":push", "push", "stack"},
    {":pop", "pop", "stack"},
    {":acquire", "acquire", "lock"},
    {":try-acquire", "try_acquire", "lock"},
    {":release", "release", "lock"},
    {":txn", "transaction", "multi_register"},
}};

bool is_collection(const EdnValue& value) {
  return value.type == Type::list || value.type == Type::vector || value.type == Type::map ||
         value.type == Type::set;
}

// Values other than numbers, strings, booleans and nil become strings: their source text.
json scalar(const EdnValue& value) {
  if (value.type == Type::nil) return nullptr;
  if (value.type == Type::string) return value.text;
  if (value.type == Type::integer) {
    if (const auto number = parse_number<std::int64_t>(value.text)) {
      return *number < 0 ? json(*number) : json(static_cast<std::uint64_t>(*number));
    }
  }
  if (value.text == "true" || value.text == "false") return value.text == "true";
  return to_text(value);
}

bool is_read(const EdnValue& access) {
  return access.items[0].text == ":r" || access.items[0].text == ":read";
}
bool is_write(const EdnValue& access) {
  return access.items[0].text == ":w" || access.items[0].text == ":write";
}

// As scalar(), also of collections.
json whole(const EdnValue& value) {
  if (!is_collection(value)) return scalar(value);
  if (value.type == Type::map) {
    json object = json::object();
    for (std::size_t index = 0; index + 1 < value.items.size(); index += 2) {
      object[to_text(value.items[index])] = whole(value.items[index + 1]);
    }
    return object;
  }
  json array = json::array();
  for (const EdnValue& item : value.items) array.push_back(whole(item));
  return array;
}

// The fields that do not depend on the operation.
json outline(const JepsenOperation& operation, const std::string& name) {
  json object;
  object["client"] = operation.process;
  object["operation"] = name;
  object["call"] = operation.call_time;
  object["outcome"] = "indeterminate";
  if (!operation.answer && !operation.has_failed) return object;
  object["return"] = operation.return_time;
  object["outcome"] = operation.has_failed ? "refused" : "answered";
  return object;
}

// The value without the key.
const EdnValue& plain(const EdnValue& value, bool has_key) {
  if (!has_key) return value;
  if (value.type != Type::vector || value.items.size() != 2) {
    reject(fmt::format("the value {} is not [key value], but those of the other operations are",
                       shortened(to_text(value))));
  }
  return value.items[1];
}

// The accesses of a transaction: [:r key value] or [:w key value], also with the whole words.
const std::vector<EdnValue>& accesses_of(const EdnValue& value) {
  const auto is_access = [](const EdnValue& access) {
    const bool has_parts = access.type == Type::vector && access.items.size() == 3;
    return has_parts && (is_read(access) || is_write(access));
  };
  if (value.type == Type::vector && std::ranges::all_of(value.items, is_access)) {
    return value.items;
  }
  reject(
      fmt::format(":txn has the value {}, but must have a vector of [:r key value] and "
                  "[:w key value]",
                  shortened(to_text(value))));
}

void add_transaction(json& object, const EdnValue& value) {
  json& accesses = object["accesses"] = json::array();
  for (const EdnValue& access : accesses_of(value)) {
    json key = scalar(access.items[1]);
    if (is_read(access)) {
      accesses.push_back(json::array({"read", std::move(key)}));
    } else {
      accesses.push_back(json::array({"write", std::move(key), scalar(access.items[2])}));
    }
  }
}

void add_found_values(json& object, const EdnValue& value) {
  json& found = object["result"] = json::array();
  for (const EdnValue& access : accesses_of(value)) {
    if (is_read(access)) found.push_back(scalar(access.items[2]));
  }
}

void add_call(json& object, const std::string& operation, const EdnValue& value) {
  if (operation == "write" || operation == "push") object["value"] = scalar(value);
  if (operation == "transaction") add_transaction(object, value);
  if (operation != "compare_and_swap") return;
  if (value.type != Type::vector || value.items.size() != 2) {
    reject(
        fmt::format(":cas has the value {}, but must have [from to]", shortened(to_text(value))));
  }
  object["expected"] = scalar(value.items[0]);
  object["desired"] = scalar(value.items[1]);
}

void add_answer(json& object, const std::string& operation, const EdnValue& value) {
  if (operation == "read" || operation == "pop") object["result"] = scalar(value);
  if (operation == "compare_and_swap") object["swapped"] = true;
  if (operation == "transaction") add_found_values(object, value);
  const bool is_lock = operation.ends_with("acquire") || operation == "release";
  if (is_lock) object["result"] = true;
}

}  // namespace

std::optional<std::string> specification_of(const std::string& function) {
  const auto* const found = std::ranges::find(functions, function, &Function::name);
  if (found == functions.end() || found->specification.empty()) return std::nullopt;
  return std::string(found->specification);
}

bool has_key(const JepsenOperation& operation) {
  const EdnValue& value = operation.value;
  const bool is_pair =
      value.type == Type::vector && value.items.size() == 2 && !is_collection(value.items[0]);
  const bool takes_vector = operation.function == ":cas" || operation.function == ":txn";
  return is_pair && (!takes_vector || value.items[1].type == Type::vector);
}

json to_json(const JepsenOperation& operation, bool has_key) {
  const auto* const function = std::ranges::find(functions, operation.function, &Function::name);
  if (function == functions.end()) {
    std::string known;
    for (const Function& each : functions) known += " " + std::string(each.name);
    reject(fmt::format("unknown function {}; known are{}", shortened(operation.function), known));
  }
  const std::string name(function->operation);
  json object = outline(operation, name);
  if (has_key) {
    plain(operation.value, has_key);
    object["object"] = scalar(operation.value.items[0]);
  }
  add_call(object, name, plain(operation.value, has_key));
  if (operation.answer) add_answer(object, name, plain(*operation.answer, has_key));
  return object;
}

json to_plain_json(const JepsenOperation& operation) {
  const std::string& function = operation.function;
  json object = outline(operation, function.starts_with(':') ? function.substr(1) : function);
  if (operation.value.type != Type::nil) object["value"] = whole(operation.value);
  if (operation.answer) object["result"] = whole(*operation.answer);
  return object;
}

}  // namespace falafel::checkers::formats
