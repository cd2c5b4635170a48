// The operations of Jepsen's workloads as operations of the shipped specifications.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "checkers/formats/edn_reader.h"

namespace falafel::checkers::formats {

struct JepsenOperation {
  std::uint32_t process = 0;
  std::string function;              // ":read"
  EdnValue value{};                  // of the call
  std::optional<EdnValue> answer{};  // the value of :ok
  bool has_failed = false;           // :fail: it did not happen
  std::uint64_t line = 0;            // of the call
  std::uint64_t call_time = 0;
  std::uint64_t return_time = 0;
};

// The name of the specification that has the function; nullopt: several have it, or none.
std::optional<std::string> specification_of(const std::string& function);

// Returns whether the value is [key value], as those of independent objects are.
bool has_key(const JepsenOperation& operation);

// The operation as a line of the specification's format. Throws std::runtime_error.
nlohmann::json to_json(const JepsenOperation& operation, bool has_key);

// The same for a user's specification: the operation has the name of the function, the argument
// `value` unless it is nil, and the whole value of the answer.
nlohmann::json to_plain_json(const JepsenOperation& operation);

}  // namespace falafel::checkers::formats
