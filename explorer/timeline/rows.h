// Assigns operations and requests to rows of their lanes, so that concurrent ones do not overlap.
#pragma once

#include "explorer/timeline/timeline.h"

namespace falafel::timeline {

// Sets the row of each operation and request, and the number of rows of each lane.
void assign_rows(Timeline& timeline);

}  // namespace falafel::timeline
