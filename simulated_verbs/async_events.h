// The asynchronous events of a context: queue pairs that fail, and shared receive queues that run
// empty. They are found whenever the program asks for them.
#pragma once

#include <infiniband/verbs.h>

#include <deque>

#include "simulated_verbs/context.h"

namespace falafel::simulated_verbs {

class Process;
struct QueuePair;
struct SharedReceiveQueue;

class AsyncEvents {
 public:
  explicit AsyncEvents(Context& context) : context_(context) {}

  bool empty();
  // Requires that it is not empty. The event is unacknowledged.
  ibv_async_event take();
  // The object is destroyed: the events that nobody took are gone.
  void forget(const ibv_qp* queue_pair);
  void forget(const ibv_srq* queue);

 private:
  void find_new();
  void examine(QueuePair& queue_pair);
  void examine(SharedReceiveQueue& queue);

  Context& context_;
  std::deque<ibv_async_event> events_;
};

// A descriptor that is ready while there are events.
int open_descriptor(AsyncEvents& events, Process& process);

}  // namespace falafel::simulated_verbs
