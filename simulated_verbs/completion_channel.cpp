#include "simulated_verbs/completion_channel.h"

#include <poll.h>

#include <algorithm>
#include <cerrno>

#include "simulated_verbs/completion_queue.h"
#include "simulated_verbs/descriptor.h"
#include "simulated_verbs/library_call.h"
#include "simulated_verbs/process.h"
#include "simulated_verbs/sockets.h"
#include "simulated_verbs/verbs_objects.h"

namespace falafel::simulated_verbs {

namespace {

class ChannelDescriptor final : public Descriptor {
 public:
  explicit ChannelDescriptor(const CompletionChannel& channel) : channel_(channel) {}
  short ready_events() const override { return channel_.find_event() == nullptr ? 0 : POLLIN; }

 private:
  const CompletionChannel& channel_;
};

bool is_nonblocking(const Process& process, const CompletionChannel& channel) {
  const std::shared_ptr<Descriptor> descriptor = process.sockets().find(channel.fd);
  return descriptor != nullptr && descriptor->is_nonblocking();
}

}  // namespace

CompletionChannel::CompletionChannel(Context& opened) : ibv_comp_channel{}, owner(opened) {
  context = &opened.context;
  fd = owner.process.sockets().add(std::make_shared<ChannelDescriptor>(*this));
}

CompletionQueue* CompletionChannel::find_event() const {
  const auto ready = std::ranges::find_if(queues, [](auto* each) { return each->has_event(); });
  return ready == queues.end() ? nullptr : *ready;
}

}  // namespace falafel::simulated_verbs

using namespace falafel::simulated_verbs;  // NOLINT(google-build-using-namespace)

extern "C" {

ibv_comp_channel* ibv_create_comp_channel(ibv_context* context) {
  const LibraryCall call("ibv_create_comp_channel");
  return call.process().verbs().completion_channels.add(
      std::make_unique<CompletionChannel>(wrapper_of(context)));
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
