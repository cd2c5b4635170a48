#include "simulated_verbs/async_events.h"

#include <poll.h>

#include <utility>

#include "fabric/sim/existing_programs.h"
#include "simulated_verbs/descriptor.h"
#include "simulated_verbs/verbs_objects.h"

namespace falafel::simulated_verbs {

namespace {

bool concerns_queue_pair(const ibv_async_event& event) {
  return event.event_type == IBV_EVENT_QP_ACCESS_ERR ||
         event.event_type == IBV_EVENT_QP_LAST_WQE_REACHED;
}

}  // namespace

UnacknowledgedEvents& unacknowledged_of(const ibv_async_event& event) {
  return concerns_queue_pair(event)
             ? wrapper_of(event.element.qp).unacknowledged
             : static_cast<SharedReceiveQueue*>(event.element.srq)->unacknowledged;
}

bool AsyncEvents::empty() const {
  find_new();
  return context_.async_events.empty();
}

ibv_async_event AsyncEvents::take() const {
  const ibv_async_event event = context_.async_events.front();
  context_.async_events.pop_front();
  unacknowledged_of(event).add();
  return event;
}

void AsyncEvents::forget(const ibv_qp* queue_pair) const {
  std::erase_if(context_.async_events, [&](const ibv_async_event& event) {
    return concerns_queue_pair(event) && event.element.qp == queue_pair;
  });
}

void AsyncEvents::forget(const ibv_srq* queue) const {
  std::erase_if(context_.async_events, [&](const ibv_async_event& event) {
    return !concerns_queue_pair(event) && event.element.srq == queue;
  });
}

void AsyncEvents::find_new() const {
  for (const auto& queue_pair : objects_.queue_pairs.all()) {
    if (queue_pair->qp_base.context == &context_.context) examine(*queue_pair);
  }
  for (const auto& queue : objects_.shared_receive_queues.all()) {
    if (queue->context == &context_.context) examine(*queue);
  }
}

// The last receive request has been taken once nothing more can arrive: then the program may free
// what the requests of this queue pair used.
void AsyncEvents::examine(QueuePair& queue_pair) const {
  const auto raise = [&](ibv_event_type type, bool& is_raised) {
    if (std::exchange(is_raised, true)) return;
    ibv_async_event event{};
    event.event_type = type;
    event.element.qp = &queue_pair.qp_base;
    context_.async_events.push_back(event);
  };
  if (sim::has_refused_access(*queue_pair.pair)) {
    raise(IBV_EVENT_QP_ACCESS_ERR, queue_pair.raised.access_error);
  }
  if (queue_pair.shared_receives != nullptr && sim::is_fenced(*queue_pair.pair)) {
    raise(IBV_EVENT_QP_LAST_WQE_REACHED, queue_pair.raised.last_request_reached);
  }
}

void AsyncEvents::examine(SharedReceiveQueue& queue) const {
  if (sim::size(*queue.queue) >= queue.limits.srq_limit) return;
  queue.limits.srq_limit = 0;  // it is no longer armed
  ibv_async_event event{};
  event.event_type = IBV_EVENT_SRQ_LIMIT_REACHED;
  event.element.srq = &queue;
  context_.async_events.push_back(event);
}

namespace {

class AsyncDescriptor final : public Descriptor {
 public:
  explicit AsyncDescriptor(const AsyncEvents& events) : events_(events) {}
  short ready_events() const override { return events_.empty() ? 0 : POLLIN; }

 private:
  AsyncEvents events_;
};

}  // namespace

std::shared_ptr<Descriptor> descriptor_of_async_events(Context& context,
                                                       const VerbsObjects& objects) {
  return std::make_shared<AsyncDescriptor>(AsyncEvents(context, objects));
}

}  // namespace falafel::simulated_verbs
