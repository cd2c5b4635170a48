// Completion channels: where the events of completion queues arrive. A program waits for them by
// ibv_get_cq_event, or by poll for the descriptor of the channel.
#pragma once

#include <infiniband/verbs.h>

#include <vector>

#include "simulated_verbs/context.h"
#include "simulated_verbs/object_of_program.h"

namespace falafel::simulated_verbs {

class Sockets;
struct CompletionQueue;

struct CompletionChannel : ibv_comp_channel, ObjectOfProgram {
  // Its descriptor is one of these.
  CompletionChannel(Context& opened, Sockets& sockets);
  ~CompletionChannel() = default;
  CompletionChannel(const CompletionChannel&) = delete;
  CompletionChannel& operator=(const CompletionChannel&) = delete;

  // A queue with an event that the program has not taken; null if there is none.
  CompletionQueue* find_event() const;

  std::vector<CompletionQueue*> queues;
};

}  // namespace falafel::simulated_verbs
