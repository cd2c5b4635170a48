/* Mistakes with messages and their buffers. */
#include <errno.h>
#include <time.h>

#include "reports.h"
#include "side.h"

enum { messages = 3 };

int buffer_reuse_server(int cured) {
  (void)cured;
  struct side side;
  if (open_side(&side, 0) != 0) return 1;
  for (uint64_t word = 0; word < messages; ++word) post_receive(&side, word, 8);
  if (meet(&side, NULL) != 0) return 1;
  for (uint64_t word = 0; word < messages; ++word) wait_for_completion(&side);
  for (uint64_t word = 0; word < messages; ++word) {
    if (side.buffer[word] != word + 1) return 2; /* one message twice, another one never */
  }
  tell(&side, 'd');
  return 0;
}

int buffer_reuse_client(int cured) {
  struct side side;
  if (open_side(&side, 0) != 0 || meet(&side, "server") != 0) return 1;
  for (uint64_t number = 1; number <= messages; ++number) {
    side.buffer[0] = number;
    if (post(&side, IBV_WR_SEND, IBV_SEND_SIGNALED, 0, 8, 0) != 0) return 1;
    if (cured) wait_for_completion(&side);
  }
  return hear(&side) == 'd' ? 0 : 1;
}

int armed_late_server(int cured) {
  struct side side;
  if (open_side(&side, 0) != 0) return 1;
  for (uint64_t word = 0; word < messages; ++word) post_receive(&side, word, 8);
  if (meet(&side, NULL) != 0) return 1;
  struct ibv_wc completion;
  for (int received = 0;;) {
    if (cured) ibv_req_notify_cq(side.cq, 0);
    while (ibv_poll_cq(side.cq, 1, &completion) > 0) ++received;
    if (received == messages) return hear(&side) == 'd' ? 0 : 1;
    if (!cured) ibv_req_notify_cq(side.cq, 0);
    struct ibv_cq *raised;
    void *context;
    if (ibv_get_cq_event(side.channel, &raised, &context) != 0) return 1;
    ibv_ack_cq_events(raised, 1);
  }
}

int armed_late_client(int cured) {
  (void)cured;
  struct side side;
  if (open_side(&side, 0) != 0 || meet(&side, "server") != 0) return 1;
  for (int sent = 0; sent < messages; ++sent) {
    if (post(&side, IBV_WR_SEND, IBV_SEND_SIGNALED, 0, 8, 0) != 0) return 1;
    if (wait_for_completion(&side).status != IBV_WC_SUCCESS) return 1;
  }
  tell(&side, 'd');
  return 0;
}

/* The receiver stays until the sender has its completion: an acknowledgement may be lost. */
int late_receive_server(int cured) {
  struct side side;
  if (open_side(&side, 0) != 0) return 1;
  if (cured) post_receive(&side, 0, 8);
  if (meet(&side, NULL) != 0) return 1;
  if (!cured) post_receive(&side, 0, 8);
  return hear(&side) == 'd' ? 0 : 2;
}

int late_receive_client(int cured) {
  (void)cured;
  struct side side;
  if (open_side(&side, 0) != 0) return 1;
  side.rnr_retry = 0;
  if (meet(&side, "server") != 0) return 1;
  if (post(&side, IBV_WR_SEND, IBV_SEND_SIGNALED, 0, 8, 0) != 0) return 1;
  if (wait_for_completion(&side).status != IBV_WC_SUCCESS) return 2;
  tell(&side, 'd');
  return 0;
}

static int reconnect(struct side *side) {
  struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RESET};
  if (ibv_modify_qp(side->qp, &attr, IBV_QP_STATE) != 0) return -1;
  tell(side, 'r');
  hear(side); /* both are in RESET */
  return to_init(side);
}

int lost_receives_server(int cured) {
  struct side side;
  if (open_side(&side, 0) != 0) return 1;
  post_receive(&side, 0, 8);
  if (meet(&side, NULL) != 0 || reconnect(&side) != 0) return 1;
  if (cured) post_receive(&side, 0, 8);
  if (connect_queue_pair(&side) != 0) return 1;
  const enum ibv_wc_status status = wait_for_completion(&side).status;
  hear(&side); /* until the client has its completion */
  return status == IBV_WC_SUCCESS ? 0 : 2;
}

int lost_receives_client(int cured) {
  (void)cured;
  struct side side;
  if (open_side(&side, 0) != 0 || meet(&side, "server") != 0) return 1;
  if (reconnect(&side) != 0 || connect_queue_pair(&side) != 0) return 1;
  if (post(&side, IBV_WR_SEND, IBV_SEND_SIGNALED, 0, 8, 0) != 0) return 1;
  const enum ibv_wc_status status = wait_for_completion(&side).status;
  tell(&side, 'd');
  return status == IBV_WC_SUCCESS ? 0 : 2;
}

int failed_opcode_server(int cured) {
  (void)cured;
  struct side side;
  if (open_side(&side, 0) != 0 || meet(&side, NULL) != 0) return 1;
  struct ibv_qp_attr attr = {.qp_state = IBV_QPS_ERR};
  ibv_modify_qp(side.qp, &attr, IBV_QP_STATE);
  tell(&side, 'e');
  return 0;
}

int failed_opcode_client(int cured) {
  struct side side;
  enum { of_send = 1, of_receive = 2 };
  if (open_side(&side, 0) != 0 || post_receive(&side, of_receive, 8) != 0) return 1;
  if (meet(&side, "server") != 0) return 1;
  hear(&side);
  struct ibv_qp_attr attr = {.qp_state = IBV_QPS_ERR};
  if (post(&side, IBV_WR_SEND, IBV_SEND_SIGNALED, of_send, 8, 0) != 0) return 1;
  ibv_modify_qp(side.qp, &attr, IBV_QP_STATE);
  int sends = 0;
  int receives = 0;
  for (int count = 0; count < 2; ++count) {
    const struct ibv_wc completion = wait_for_completion(&side);
    const int is_send =
        cured ? completion.wr_id == of_send : completion.opcode == IBV_WC_SEND;
    if (is_send) {
      ++sends;
    } else {
      ++receives;
    }
  }
  return sends == 1 && receives == 1 ? 0 : 2;
}

int timed_out_buffer_server(int cured) {
  (void)cured;
  struct side side;
  if (open_side(&side, 0) != 0 || meet(&side, NULL) != 0) return 1;
  for (char number = hear(&side); number != 0; number = hear(&side)) {
    if (post(&side, IBV_WR_RDMA_READ, IBV_SEND_SIGNALED, 1, 8, 0) != 0) return 1;
    if (wait_for_completion(&side).status != IBV_WC_SUCCESS) return 1;
    if (side.buffer[1] != (uint64_t)number) return 2; /* the buffer is another request's */
    post(&side, IBV_WR_RDMA_WRITE, IBV_SEND_SIGNALED, 1, 8, (uint64_t)number);
    wait_for_completion(&side);
  }
  return 0;
}

static int64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000000000 + now.tv_nsec;
}

int timed_out_buffer_client(int cured) {
  struct side side;
  if (open_side(&side, 0) != 0 || meet(&side, "server") != 0) return 1;
  for (char number = 1; number <= 2; ++number) {
    side.buffer[0] = (uint64_t)number;
    tell(&side, number);
    const volatile uint64_t *answer = side.buffer + number;
    const int64_t end_ns = now_ns() + 20000;
    struct ibv_wc completion;
    while (*answer == 0 && (cured || now_ns() < end_ns)) ibv_poll_cq(side.cq, 1, &completion);
  }
  return 0;
}
