// An operation as a JSON object: one line of a history in JSON Lines. docs/checkers.md describes
// the format.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <tl/expected.hpp>

#include "checkers/history.h"

namespace falafel::checkers::formats {

// Returns a string, or {"hex": "00ff"} if the bytes are not valid UTF-8.
nlohmann::ordered_json bytes_to_json(std::string_view bytes);

nlohmann::ordered_json operation_to_json(const checkers::Operation& operation);

// Accepts any object. The returned operation's kind permits its answer, and it does not return
// before its call.
tl::expected<checkers::Operation, std::string> operation_from_json(const nlohmann::json& object);

}  // namespace falafel::checkers::formats
