// Invariants of the server's memory at rest, when it serves no request.
#pragma once

#include <string>
#include <vector>

#include "stores/c_hint/server.h"

namespace falafel::c_hint {

// A sentence for each of these that does not hold:
//   every descriptor points to an item that verifies, is live, and has its key and version;
//   no two items share memory, and none is in memory that is free;
//   the allocated blocks are those of items and those that wait for a lease;
//   allocated and free blocks together are the memory.
std::vector<std::string> find_problems(const ServerInspection& server);

}  // namespace falafel::c_hint
