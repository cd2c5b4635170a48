#include "simulated_verbs/completion_channel.h"

#include <poll.h>

#include <algorithm>
#include <memory>

#include "simulated_verbs/completion_queue.h"
#include "simulated_verbs/descriptor.h"
#include "simulated_verbs/sockets.h"

namespace falafel::simulated_verbs {

namespace {

class ChannelDescriptor final : public Descriptor {
 public:
  explicit ChannelDescriptor(const CompletionChannel& channel) : channel_(channel) {}
  short ready_events() const override { return channel_.find_event() == nullptr ? 0 : POLLIN; }

 private:
  const CompletionChannel& channel_;
};

}  // namespace

CompletionChannel::CompletionChannel(Context& opened, Sockets& sockets) : ibv_comp_channel{} {
  context = &opened.context;
  fd = sockets.add(std::make_shared<ChannelDescriptor>(*this));
}

CompletionQueue* CompletionChannel::find_event() const {
  const auto ready = std::ranges::find_if(queues, [](auto* each) { return each->has_event(); });
  return ready == queues.end() ? nullptr : *ready;
}

}  // namespace falafel::simulated_verbs
