// Invariants of the server at rest, when it serves no request.
#pragma once

#include <string>
#include <vector>

#include "stores/two_sided/server.h"

namespace falafel::two_sided {

// A sentence for each of these that does not hold:
//   every list has an end, every key is in the list of its bucket, and no key is there twice;
//   the lists have all pairs that are in use;
//   no lock is held;
//   there are as many workers as connected clients.
std::vector<std::string> find_problems(const ServerInspection& server);

}  // namespace falafel::two_sided
