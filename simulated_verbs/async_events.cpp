#include "simulated_verbs/async_events.h"

#include <poll.h>

#include <cerrno>

#include "fabric/sim/existing_programs.h"
#include "simulated_verbs/descriptor.h"
#include "simulated_verbs/library_call.h"
#include "simulated_verbs/not_simulated.h"
#include "simulated_verbs/process.h"
#include "simulated_verbs/sockets.h"
#include "simulated_verbs/verbs_objects.h"

namespace falafel::simulated_verbs {

namespace {

bool concerns_queue_pair(const ibv_async_event& event) {
  return event.event_type == IBV_EVENT_QP_ACCESS_ERR ||
         event.event_type == IBV_EVENT_QP_LAST_WQE_REACHED;
}

UnacknowledgedEvents& unacknowledged_of(const ibv_async_event& event) {
  return concerns_queue_pair(event)
             ? wrapper_of(event.element.qp).unacknowledged
             : static_cast<SharedReceiveQueue*>(event.element.srq)->unacknowledged;
}

}  // namespace

bool AsyncEvents::empty() {
  find_new();
  return events_.empty();
}

ibv_async_event AsyncEvents::take() {
  const ibv_async_event event = events_.front();
  events_.pop_front();
  unacknowledged_of(event).add();
  return event;
}

void AsyncEvents::forget(const ibv_qp* queue_pair) {
  std::erase_if(events_, [&](const ibv_async_event& event) {
    return concerns_queue_pair(event) && event.element.qp == queue_pair;
  });
}

void AsyncEvents::forget(const ibv_srq* queue) {
  std::erase_if(events_, [&](const ibv_async_event& event) {
    return !concerns_queue_pair(event) && event.element.srq == queue;
  });
}

void AsyncEvents::find_new() {
  for (const auto& queue_pair : context_.process.verbs().queue_pairs.all()) {
    if (queue_pair->qp_base.context == &context_.context) examine(*queue_pair);
  }
  for (const auto& queue : context_.process.verbs().shared_receive_queues.all()) {
    if (queue->context == &context_.context) examine(*queue);
  }
}

// The last receive request has been taken once nothing more can arrive: then the program may free
// what the requests of this queue pair used.
void AsyncEvents::examine(QueuePair& queue_pair) {
  const auto raise = [&](ibv_event_type type, bool& is_raised) {
    if (std::exchange(is_raised, true)) return;
    ibv_async_event event{};
    event.event_type = type;
    event.element.qp = &queue_pair.qp_base;
    events_.push_back(event);
  };
  if (sim::has_refused_access(*queue_pair.pair)) {
    raise(IBV_EVENT_QP_ACCESS_ERR, queue_pair.raised.access_error);
  }
  if (queue_pair.shared_receives != nullptr && sim::is_fenced(*queue_pair.pair)) {
    raise(IBV_EVENT_QP_LAST_WQE_REACHED, queue_pair.raised.last_request_reached);
  }
}

void AsyncEvents::examine(SharedReceiveQueue& queue) {
  if (sim::size(*queue.queue) >= queue.limits.srq_limit) return;
  queue.limits.srq_limit = 0;  // it is no longer armed
  ibv_async_event event{};
  event.event_type = IBV_EVENT_SRQ_LIMIT_REACHED;
  event.element.srq = &queue;
  events_.push_back(event);
}

namespace {

class AsyncDescriptor final : public Descriptor {
 public:
  explicit AsyncDescriptor(AsyncEvents& events) : events_(events) {}
  short ready_events() const override { return events_.empty() ? 0 : POLLIN; }

 private:
  AsyncEvents& events_;
};

}  // namespace

int open_descriptor(AsyncEvents& events, Process& process) {
  return process.sockets().add(std::make_shared<AsyncDescriptor>(events));
}

}  // namespace falafel::simulated_verbs

using namespace falafel::simulated_verbs;  // NOLINT(google-build-using-namespace)

extern "C" {

int ibv_get_async_event(ibv_context* context, ibv_async_event* event) {
  const LibraryCall call("ibv_get_async_event");
  call.let_others_go_on();
  AsyncEvents& events = *wrapper_of(context).async_events;
  const auto descriptor = call.process().sockets().find(context->async_fd);
  if (events.empty() && descriptor != nullptr && descriptor->is_nonblocking()) {
    call.process().wait_for_activity();
    errno = EAGAIN;
    return -1;
  }
  while (events.empty()) call.process().activity()->wait(falafel::fabric::never_ns);
  *event = events.take();
  return 0;
}

void ibv_ack_async_event(ibv_async_event* event) {
  const LibraryCall call("ibv_ack_async_event");
  unacknowledged_of(*event).acknowledge(1);
}
}
