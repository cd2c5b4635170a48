#include "simulated_verbs/opened_device.h"

#include <memory>

#include "simulated_verbs/async_events.h"
#include "simulated_verbs/context.h"
#include "simulated_verbs/extended_functions.h"
#include "simulated_verbs/memory_window.h"
#include "simulated_verbs/posting.h"
#include "simulated_verbs/sockets.h"
#include "simulated_verbs/verbs_objects.h"

namespace falafel::simulated_verbs {

namespace {

void refer_to_functions(Context& opened) {
  opened.create_cq_ex = create_extended_completion_queue;
  opened.create_qp_ex = create_extended_queue_pair;
  opened.query_device_ex = query_extended_attributes;
  ibv_context_ops& functions = opened.context.ops;
  functions.poll_cq = poll_completions;
  functions.req_notify_cq = request_notification;
  functions.post_send = post_sends;
  functions.post_recv = post_receives;
  functions.post_srq_recv = post_shared_receives;
  functions.alloc_mw = allocate_window;
  functions.dealloc_mw = deallocate_window;
  functions.bind_mw = bind_window;
}

// As the kernel does, because programs may leave objects to it.
void destroy_objects(VerbsObjects& objects, Sockets& sockets, const ibv_context* context) {
  const auto is_of_it = [&](const auto& object) { return object.context == context; };
  objects.memory_windows.remove_if(is_of_it);
  objects.queue_pairs.remove_if([&](const QueuePair& object) { return is_of_it(object.qp_base); });
  objects.shared_receive_queues.remove_if(is_of_it);
  objects.completion_queues.remove_if(is_of_it);
  for (const auto& channel : objects.completion_channels.all()) {
    if (is_of_it(*channel)) sockets.close(channel->fd);
  }
  objects.completion_channels.remove_if(is_of_it);
  objects.address_handles.remove_if(is_of_it);
  objects.memory_regions.remove_if(is_of_it);
  objects.protection_domains.remove_if(is_of_it);
}

}  // namespace

Context& open_device(VerbsObjects& objects, Sockets& sockets) {
  Context& opened = *objects.contexts.add(std::make_unique<Context>(objects.device));
  refer_to_functions(opened);
  opened.context.async_fd = sockets.add(descriptor_of_async_events(opened, objects));
  return opened;
}

void close_device(Context& context, VerbsObjects& objects, Sockets& sockets) {
  sockets.close(context.context.async_fd);
  destroy_objects(objects, sockets, &context.context);
  objects.contexts.remove(&context);
}

}  // namespace falafel::simulated_verbs
