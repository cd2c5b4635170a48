// Gives operations and requests rows in their lanes, so that none covers another that is under way at the
// same time.
#pragma once

#include "tools/timeline/timeline.h"

namespace falafel::timeline {

// Sets the rows of operations and requests, and how many rows each lane has.
void assign_rows(Timeline& timeline);

}  // namespace falafel::timeline
