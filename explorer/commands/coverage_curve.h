// The coverage of a campaign over time, as a picture in SVG.
#pragma once

#include <string>

#include "explorer/campaign_result.h"

namespace falafel::command_line {

// The times of a shard count from its own beginning, so for shards that ran side by side, the curve
// shows what all of them together had reached by each time. The axis of time is logarithmic.
std::string draw_coverage_curve(const explorer::CampaignResult& results);

// "350 ms", "12.3 s", "5 min 20 s", "2 h 05 min".
std::string time_text(double seconds);

}  // namespace falafel::command_line
