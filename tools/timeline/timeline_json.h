// A timeline as JSON, as the page reads it (page/model.js).
//
// What there are many of stands in columns: an object with an array for each field. Texts that occur often
// are numbers in `texts`. Words are 16 hexadecimal digits, since numbers of JavaScript have 53 bits; steps
// that never come are null.
#pragma once

#include <nlohmann/json.hpp>

#include "tools/timeline/timeline.h"

namespace falafel::timeline {

nlohmann::ordered_json to_json(const Timeline& timeline);

}  // namespace falafel::timeline
