// Processes that work at the same time take different processors.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <optional>

#include "processes/shared_object.h"

namespace falafel::simulated_verbs {

class ProcessorsOfWorkers {
 public:
  // Made before the processes are forked, of which that number work at the same time.
  explicit ProcessorsOfWorkers(unsigned workers) : workers_(workers) {}

  // The place of the calling process among the processors. None if it works alone.
  std::optional<unsigned> own();

 private:
  unsigned workers_;
  processes::SharedObject<std::atomic<unsigned>> taken_;
  pid_t owner_ = 0;  // of place_
  unsigned place_ = 0;
};

}  // namespace falafel::simulated_verbs
