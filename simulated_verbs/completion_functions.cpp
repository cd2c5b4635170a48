// The functions of libibverbs that make and destroy completion queues and completion channels, and
// that wait for their events.
#include <infiniband/verbs.h>

#include <cerrno>
#include <cstdint>
#include <memory>
#include <utility>

#include "fabric/sim/existing_programs.h"
#include "simulated_verbs/completion_channel.h"
#include "simulated_verbs/completion_queue.h"
#include "simulated_verbs/descriptor.h"
#include "simulated_verbs/invalid_calls.h"
#include "simulated_verbs/library_call.h"
#include "simulated_verbs/process.h"
#include "simulated_verbs/sockets.h"
#include "simulated_verbs/verbs_objects.h"

namespace falafel::simulated_verbs {

namespace {

bool is_nonblocking(const Process& process, const CompletionChannel& channel) {
  const std::shared_ptr<Descriptor> descriptor = process.sockets().find(channel.fd);
  return descriptor != nullptr && descriptor->is_nonblocking();
}

}  // namespace

}  // namespace falafel::simulated_verbs

using namespace falafel::simulated_verbs;  // NOLINT(google-build-using-namespace)

extern "C" {

ibv_cq* ibv_create_cq(ibv_context* context, int cqe, void* cq_context, ibv_comp_channel* channel,
                      int comp_vector) {
  const LibraryCall call("ibv_create_cq");
  auto made = make_completion_queue(wrapper_of(context),
                                    {.entries = cqe,
                                     .context_of_program = cq_context,
                                     .channel = static_cast<CompletionChannel*>(channel),
                                     .vector = comp_vector});
  if (made == nullptr) return nullptr;
  return ibv_cq_ex_to_cq(call.process().verbs().completion_queues.add(std::move(made)));
}

int ibv_resize_cq(ibv_cq* cq, int cqe) {
  const LibraryCall call("ibv_resize_cq");
  if (cqe < 1 || static_cast<std::uint64_t>(cqe) < falafel::sim::size(*wrapper_of(cq).queue)) {
    return EINVAL;
  }
  cq->cqe = cqe;
  return 0;
}

int ibv_destroy_cq(ibv_cq* cq) {
  const LibraryCall call("ibv_destroy_cq");
  if (wrapper_of(cq).users > 0) {
    return refuse_call(call.process(), "ibv_destroy_cq: queue pairs use it", EBUSY);
  }
  wrapper_of(cq).unacknowledged.wait_until_none();
  call.process().verbs().completion_queues.remove(&wrapper_of(cq));
  return 0;
}

void ibv_ack_cq_events(ibv_cq* cq, unsigned nevents) {
  const LibraryCall call("ibv_ack_cq_events");
  wrapper_of(cq).unacknowledged.acknowledge(nevents);
}

ibv_comp_channel* ibv_create_comp_channel(ibv_context* context) {
  const LibraryCall call("ibv_create_comp_channel");
  return call.process().verbs().completion_channels.add(
      std::make_unique<CompletionChannel>(wrapper_of(context), call.process().sockets()));
}

int ibv_destroy_comp_channel(ibv_comp_channel* channel) {
  const LibraryCall call("ibv_destroy_comp_channel");
  if (channel->refcnt > 0) return EBUSY;
  call.process().sockets().close(channel->fd);
  call.process().verbs().completion_channels.remove(static_cast<CompletionChannel*>(channel));
  return 0;
}

int ibv_get_cq_event(ibv_comp_channel* channel, ibv_cq** cq, void** cq_context) {
  const LibraryCall call("ibv_get_cq_event");
  const auto& opened = *static_cast<CompletionChannel*>(channel);
  const bool returns_at_once = is_nonblocking(call.process(), opened);
  CompletionQueue* queue = opened.find_event();
  if (queue == nullptr && returns_at_once) {
    call.process().wait_for_activity();
    errno = EAGAIN;
    return -1;
  }
  for (; queue == nullptr; queue = opened.find_event()) {
    call.process().activity()->wait(falafel::fabric::never_ns);
  }
  queue->take_event();
  *cq = ibv_cq_ex_to_cq(queue);
  *cq_context = queue->cq_context;
  return 0;
}
}
