// A timeline in Chrome's trace event format, which Perfetto and other viewers load.
//
// A lane is a process, and its rows are threads. Operations and requests are complete events ("X"),
// which nest within a thread. Effects are complete events of the device that last one step. Flows
// ("s", "t", "f") connect the posting of a request with its effects and its completion. Time stamps
// are virtual microseconds.
#pragma once

#include <nlohmann/json.hpp>

#include "explorer/timeline/timeline.h"

namespace falafel::timeline {

nlohmann::ordered_json to_chrome_trace(const Timeline& timeline);

}  // namespace falafel::timeline
