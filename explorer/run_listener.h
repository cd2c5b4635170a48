// Observes a run of any program: the events of the simulator, and the operations and notes that the
// program itself reports. Stories and timelines are listeners.
#pragma once

#include <cstdint>
#include <string_view>

#include "fabric/sim/trace.h"

namespace falafel::explorer {

class RunListener : public sim::TraceObserver {
 public:
  // A party calls an operation ("push 7"), and the operation returns ("push 7 returns: done").
  // `operation` is a number of its own for each operation of the run; those that never return have
  // no on_return. The calls come between the events of the steps in which they happen.
  virtual void on_call(std::string_view party, std::uint64_t operation, std::string_view text) = 0;
  virtual void on_return(std::string_view party, std::uint64_t operation,
                         std::string_view text) = 0;
  // Anything else that the program reports.
  virtual void on_note(std::string_view party, std::string_view text) = 0;
};

}  // namespace falafel::explorer
