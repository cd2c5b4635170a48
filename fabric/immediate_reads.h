// An ability of some queue pairs beyond the contract (fabric/fabric.h): READs that take no
// completion. A queue pair whose backend has it also has this base class.
#pragma once

#include "fabric/work_request.h"

namespace falafel::fabric {

class ImmediateReads {
 public:
  // Carries out a READ at once if this host's processor can access the peer's memory itself, and
  // nothing waits in the send queue. Waits for nothing, but lets other fibers run once in many
  // calls, so the queue pair must outlive the call. True: as if the READ had been posted and its
  // success polled; there is no completion. False: nothing has happened; post the READ to learn
  // why. Ignores its `id` and `signalled`.
  virtual bool read_at_once(const WorkRequest& request) = 0;

 protected:
  ~ImmediateReads() = default;
};

}  // namespace falafel::fabric
