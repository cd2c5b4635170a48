#include "simulated_verbs/posting.h"

#include "simulated_verbs/completion_queue.h"
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

int poll_completions(ibv_cq* cq, int most, ibv_wc* completions) {
  const LibraryCall call("ibv_poll_cq");
  call.let_others_go_on();
  return wrapper_of(cq).poll(most, completions);
}

int request_notification(ibv_cq* cq, int solicited_only) {
  const LibraryCall call("ibv_req_notify_cq");
  call.let_others_go_on();
  wrapper_of(cq).arm(solicited_only != 0);
  return 0;
}

}  // namespace falafel::simulated_verbs
