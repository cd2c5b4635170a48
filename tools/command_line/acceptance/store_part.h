// The store part: clients in processes of their own work on the store of the other side, and record
// what they do. Checkers judge the history of each round and, at the end, the server's memory. Now
// and then, a client is killed in the middle; on request, the network fails for a while.
#pragma once

#include <cstdint>
#include <string>

#include "falafel/fabric_options.h"
#include "tools/command_line/acceptance/part_report.h"

namespace falafel::acceptance {

struct StorePlan {
  FabricOptions fabric;
  std::string server;
  double seconds = 0;
  std::uint32_t clients = 4;
  std::string interface;  // to take down; empty: none
};

// The store must have begun; this part ends it.
PartReport run_store(const StorePlan& plan);

}  // namespace falafel::acceptance
