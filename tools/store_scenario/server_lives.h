// Which queue pairs reach the memory of the server that is there. What was under way when a server died may
// still take effect, in memory that is nobody's any more: the table of the next life is another one.
#pragma once

#include <cstdint>
#include <vector>

#include "fabric/sim/trace.h"

namespace falafel::store_scenario {

class ServerLives {
 public:
  // Events of the kinds connection, host_started and host_died; others are no matter.
  void observe(const sim::TraceEvent& event);
  // Whether it was connected in the server's present life.
  bool is_in_use(std::uint32_t queue_pair) const;

 private:
  void on_connection(std::uint32_t queue_pair);

  std::uint64_t life_ = 0;                         // counts when the server starts and when it dies
  std::vector<std::uint64_t> life_of_connection_;  // by queue pair; 0: none
};

}  // namespace falafel::store_scenario
