// Cancellation without an exception, for daemons that wait for new work with nothing in progress.
#pragma once

#include "fabric/fabric.h"

namespace falafel::fabric {

// While this object exists, cancellation does not unwind the calling fiber: the call in which it
// waits for the clock, an event, a completion or a connection returns as if the deadline had
// arrived. The fiber then checks is_cancelled() and returns. This works once; if the fiber waits
// again, it is unwound.
class CooperativeCancellation {
 public:
  explicit CooperativeCancellation(Host& host) : host_(host) { host_.set_cooperative(true); }
  ~CooperativeCancellation() { host_.set_cooperative(false); }
  CooperativeCancellation(const CooperativeCancellation&) = delete;
  CooperativeCancellation& operator=(const CooperativeCancellation&) = delete;

 private:
  Host& host_;
};

}  // namespace falafel::fabric
