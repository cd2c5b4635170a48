// The functions behind the inline functions of verbs.h that post and poll. A context refers to
// them.
#pragma once

#include <infiniband/verbs.h>

namespace falafel::simulated_verbs {

int post_sends(ibv_qp* qp, ibv_send_wr* list, ibv_send_wr** bad);
int post_receives(ibv_qp* qp, ibv_recv_wr* list, ibv_recv_wr** bad);
int post_shared_receives(ibv_srq* srq, ibv_recv_wr* list, ibv_recv_wr** bad);
int poll_completions(ibv_cq* cq, int most, ibv_wc* completions);
int request_notification(ibv_cq* cq, int solicited_only);

}  // namespace falafel::simulated_verbs
