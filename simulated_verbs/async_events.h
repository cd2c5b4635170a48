// The asynchronous events of a context: queue pairs that fail, and shared receive queues that run
// empty. They are found whenever the program asks for them, and kept in the context.
#pragma once

#include <infiniband/verbs.h>

#include <memory>

#include "simulated_verbs/context.h"
#include "simulated_verbs/descriptor.h"
#include "simulated_verbs/unacknowledged_events.h"

namespace falafel::simulated_verbs {

class VerbsObjects;
struct QueuePair;
struct SharedReceiveQueue;

class AsyncEvents {
 public:
  AsyncEvents(Context& context, const VerbsObjects& objects)
      : context_(context), objects_(objects) {}

  bool empty() const;
  // Requires that it is not empty. The event is unacknowledged.
  ibv_async_event take() const;
  // The object is destroyed: the events that nobody took are gone.
  void forget(const ibv_qp* queue_pair) const;
  void forget(const ibv_srq* queue) const;

 private:
  void find_new() const;
  void examine(QueuePair& queue_pair) const;
  void examine(SharedReceiveQueue& queue) const;

  Context& context_;
  const VerbsObjects& objects_;
};

UnacknowledgedEvents& unacknowledged_of(const ibv_async_event& event);

// A descriptor that is ready while there are events.
std::shared_ptr<Descriptor> descriptor_of_async_events(Context& context,
                                                       const VerbsObjects& objects);

}  // namespace falafel::simulated_verbs
