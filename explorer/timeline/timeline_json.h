// A timeline as JSON in the format that the page reads (page/model.js).
//
// Numerous records are stored in columns: an object with one array per field. Frequent texts are
// numbers in `texts`. Words are 16 hexadecimal digits, because JavaScript numbers have 53 bits.
// Steps that never occur are null.
#pragma once

#include <nlohmann/json.hpp>

#include "explorer/timeline/timeline.h"

namespace falafel::timeline {

nlohmann::ordered_json to_json(const Timeline& timeline);

}  // namespace falafel::timeline
