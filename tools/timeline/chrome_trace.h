// A timeline in the trace event format of Chrome, which Perfetto and others load.
//
// A lane is a process, its rows are threads: operations and requests are complete events ("X"), which nest in
// a thread. Effects are complete events of the device, of one step. Flows ("s", "t", "f") lead from the
// posting of a request over its effects to its completion. Time stamps are virtual microseconds.
#pragma once

#include <nlohmann/json.hpp>

#include "tools/timeline/timeline.h"

namespace falafel::timeline {

nlohmann::ordered_json to_chrome_trace(const Timeline& timeline);

}  // namespace falafel::timeline
