#pragma once

#include <infiniband/verbs.h>

#include <vector>

#include "simulated_verbs/context.h"

namespace falafel::simulated_verbs {

struct CompletionQueue;

struct CompletionChannel : ibv_comp_channel {
  explicit CompletionChannel(Context& opened);
  ~CompletionChannel() { --owner.users; }
  CompletionChannel(const CompletionChannel&) = delete;
  CompletionChannel& operator=(const CompletionChannel&) = delete;

  // Waits for the next event, and returns its queue.
  CompletionQueue& take_event();

  Context& owner;
  std::vector<CompletionQueue*> queues;
};

}  // namespace falafel::simulated_verbs
