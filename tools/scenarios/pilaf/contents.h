// The keys and values in the memory of a server.
#pragma once

#include "stores/pilaf/server.h"
#include "tools/scenarios/pilaf/logged_map.h"
#include "tools/scenarios/pilaf/values.h"

namespace falafel::pilaf_scenario {

// No request changes the memory.
LoggedMap::Contents contents_of(const pilaf::ServerInspection& server, Values values);

}  // namespace falafel::pilaf_scenario
