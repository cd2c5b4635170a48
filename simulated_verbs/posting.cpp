#include "simulated_verbs/posting.h"

#include "simulated_verbs/library_call.h"
#include "simulated_verbs/queue_pair.h"
#include "simulated_verbs/shared_receive_queue.h"

namespace falafel::simulated_verbs {

namespace {

// Posts a list of requests one by one, and names the first that fails, as libibverbs does: those
// before it have been posted.
template <typename Work, typename Post>
int post_list(Work* list, Work** bad, const Post& post) {
  for (Work* work = list; work != nullptr; work = work->next) {
    if (const int error = post(*work); error != 0) {
      *bad = work;
      return error;
    }
  }
  return 0;
}

}  // namespace

int post_sends(ibv_qp* qp, ibv_send_wr* list, ibv_send_wr** bad) {
  const LibraryCall call("ibv_post_send");
  call.let_others_go_on();
  return post_list(list, bad, [&](const auto& work) { return wrapper_of(qp).post_send(work); });
}

int post_receives(ibv_qp* qp, ibv_recv_wr* list, ibv_recv_wr** bad) {
  const LibraryCall call("ibv_post_recv");
  call.let_others_go_on();
  return post_list(list, bad, [&](const auto& work) { return wrapper_of(qp).post_receive(work); });
}

int post_shared_receives(ibv_srq* srq, ibv_recv_wr* list, ibv_recv_wr** bad) {
  const LibraryCall call("ibv_post_srq_recv");
  call.let_others_go_on();
  auto& queue = *static_cast<SharedReceiveQueue*>(srq);
  return post_list(list, bad, [&](const auto& work) { return queue.post_receive(work); });
}

}  // namespace falafel::simulated_verbs
