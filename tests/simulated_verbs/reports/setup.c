/* Mistakes in setting up and in ending. */
#include "reports.h"
#include "side.h"

static int exchange_with_mtu(struct side *side, const char *server, int cured) {
  if (open_side(side, 0) != 0 || open_connection(side, server) != 0) return -1;
  const struct card own = own_card(side);
  if (write_card(side, &own) != 0 || read_card(side) != 0) return -1;
  const uint32_t smaller = own.mtu < side->peer.mtu ? own.mtu : side->peer.mtu;
  side->path_mtu = cured ? (enum ibv_mtu)smaller : IBV_MTU_4096;
  return connect_queue_pair(side);
}

int fixed_mtu_server(int cured) {
  struct side side;
  if (exchange_with_mtu(&side, NULL, cured) != 0) return 1;
  return hear(&side) == 'd' ? 0 : 1;
}

int fixed_mtu_client(int cured) {
  struct side side;
  if (exchange_with_mtu(&side, "server", cured) != 0) return 1;
  if (post(&side, IBV_WR_RDMA_WRITE, IBV_SEND_SIGNALED, 0, 8, 0) != 0) return 1;
  if (wait_for_completion(&side).status != IBV_WC_SUCCESS) return 1;
  tell(&side, 'd');
  return 0;
}

int local_key_server(int cured) {
  struct side side;
  if (open_side(&side, 0) != 0 || open_connection(&side, NULL) != 0) return 1;
  struct card own = own_card(&side);
  if (!cured) own.rkey = side.mr->lkey;
  if (write_card(&side, &own) != 0 || read_card(&side) != 0) return 1;
  if (connect_queue_pair(&side) != 0) return 1;
  return hear(&side) == 'd' ? 0 : 1;
}

int local_key_client(int cured) {
  (void)cured;
  struct side side;
  if (open_side(&side, 0) != 0 || meet(&side, "server") != 0) return 1;
  if (post(&side, IBV_WR_RDMA_READ, IBV_SEND_SIGNALED, 0, 8, 0) != 0) return 1;
  if (wait_for_completion(&side).status != IBV_WC_SUCCESS) return 2;
  tell(&side, 'd');
  return 0;
}

enum { rounds = 2, shared_receives = 2 };

static int post_shared_receive(const struct side *side, struct ibv_srq *srq) {
  struct ibv_sge entry = {.addr = (uintptr_t)side->buffer, .length = 8, .lkey = side->mr->lkey};
  struct ibv_recv_wr work = {.sg_list = &entry, .num_sge = 1};
  struct ibv_recv_wr *bad = NULL;
  return ibv_post_srq_recv(srq, &work, &bad);
}

/* Posts as many receive requests as have come back. */
static void post_again(const struct side *side, struct ibv_srq *srq) {
  struct ibv_wc completion;
  while (ibv_poll_cq(side->cq, 1, &completion) > 0) post_shared_receive(side, srq);
}

/* The queue pair takes nothing more from the shared receive queue. */
static int drain(const struct side *side) {
  struct ibv_qp_attr attr = {.qp_state = IBV_QPS_ERR};
  if (ibv_modify_qp(side->qp, &attr, IBV_QP_STATE) != 0) return -1;
  struct ibv_async_event event;
  do {
    if (ibv_get_async_event(side->context, &event) != 0) return -1;
    ibv_ack_async_event(&event);
  } while (event.event_type != IBV_EVENT_QP_LAST_WQE_REACHED);
  return 0;
}

int lost_shared_receives_server(int cured) {
  struct side side;
  if (open_side(&side, 0) != 0 || open_connection(&side, NULL) != 0) return 1;
  struct ibv_srq_init_attr init = {.attr = {.max_wr = shared_receives, .max_sge = 1}};
  struct ibv_srq *srq = ibv_create_srq(side.pd, &init);
  for (int count = 0; count < shared_receives; ++count) post_shared_receive(&side, srq);
  for (int round = 0; round < rounds; ++round) {
    if (open_queue_pair(&side, srq, 0) != 0 || exchange_cards(&side) != 0) return 1;
    hear(&side); /* the client sends a message */
    if (cured && drain(&side) != 0) return 1;
    post_again(&side, srq);
    if (ibv_destroy_qp(side.qp) != 0) return 1;
    side.qp = NULL;
  }
  if (open_queue_pair(&side, srq, 0) != 0 || exchange_cards(&side) != 0) return 1;
  for (int count = 0; count < shared_receives; ++count) {
    if (wait_for_completion(&side).status != IBV_WC_SUCCESS) return 1;
  }
  tell(&side, 'd');
  return hear(&side) == 'd' ? 0 : 1;
}

int lost_shared_receives_client(int cured) {
  (void)cured;
  struct side side;
  if (open_side(&side, 0) != 0 || open_connection(&side, "server") != 0) return 1;
  for (int round = 0; round < rounds; ++round) {
    if (open_queue_pair(&side, NULL, 0) != 0 || exchange_cards(&side) != 0) return 1;
    if (post(&side, IBV_WR_SEND, 0, 0, 8, 0) != 0) return 1;
    tell(&side, 's');
  }
  if (open_queue_pair(&side, NULL, 0) != 0 || exchange_cards(&side) != 0) return 1;
  for (int count = 0; count < shared_receives; ++count) {
    if (post(&side, IBV_WR_SEND, 0, 0, 8, 0) != 0) return 1;
  }
  hear(&side);
  tell(&side, 'd');
  return 0;
}
