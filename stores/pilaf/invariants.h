// Invariants of the server's memory at rest, when it serves no request.
#pragma once

#include <string>
#include <vector>

#include "stores/pilaf/server.h"

namespace falafel::pilaf {

// A sentence for each of these that does not hold:
//   every entry verifies, and so does the extent of every entry in use;
//   every key is in one of its slots, and in one only;
//   the extents are exactly the allocated blocks, and none is used twice;
//   allocated and free blocks together are the extents.
std::vector<std::string> find_problems(const ServerInspection& server);

}  // namespace falafel::pilaf
