// The functions of libibverbs that wait for asynchronous events, and acknowledge them.
#include <infiniband/verbs.h>

#include <cerrno>

#include "simulated_verbs/async_events.h"
#include "simulated_verbs/descriptor.h"
#include "simulated_verbs/library_call.h"
#include "simulated_verbs/process.h"
#include "simulated_verbs/sockets.h"
#include "simulated_verbs/verbs_objects.h"

using namespace falafel::simulated_verbs;  // NOLINT(google-build-using-namespace)

extern "C" {

int ibv_get_async_event(ibv_context* context, ibv_async_event* event) {
  const LibraryCall call("ibv_get_async_event");
  call.let_others_go_on();
  const AsyncEvents events(wrapper_of(context), call.process().verbs());
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
