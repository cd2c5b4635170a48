// An operation as an object of JSON: a line of a history in JSON lines. The format: docs/checkers.md.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <tl/expected.hpp>

#include "checkers/history.h"

namespace falafel::history {

// A string, or {"hex": "00ff"} if it is not UTF-8.
nlohmann::ordered_json bytes_to_json(std::string_view bytes);

nlohmann::ordered_json operation_to_json(const checkers::Operation& operation);

// Any object is allowed. What is read can be answered as it is, and returns no earlier than called.
tl::expected<checkers::Operation, std::string> operation_from_json(const nlohmann::json& object);

}  // namespace falafel::history
