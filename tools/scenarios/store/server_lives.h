// Tracks which queue pairs reach the memory of the current server. Requests that were in flight
// when a server crashed may still take effect, but only in memory that is no longer used: the
// restarted server has another table.
#pragma once

#include <cstdint>
#include <vector>

#include "fabric/sim/trace.h"

namespace falafel::store_scenario {

class ServerLives {
 public:
  // Handles the kinds connection, host_started and host_died; ignores others.
  void observe(const sim::TraceEvent& event);
  // Returns whether the queue pair was connected to the current run of the server.
  bool is_in_use(std::uint32_t queue_pair) const;

 private:
  void on_connection(std::uint32_t queue_pair);

  std::uint64_t life_ = 0;  // incremented when the server starts and when it crashes
  std::vector<std::uint64_t> life_of_connection_;  // by queue pair; 0: no connection
};

}  // namespace falafel::store_scenario
