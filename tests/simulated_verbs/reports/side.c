#include "side.h"

#include <netdb.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static const char *const port = "18515";

int to_init(struct side *side) {
  struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT,
                             .port_num = 1,
                             .qp_access_flags = IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE |
                                                IBV_ACCESS_REMOTE_ATOMIC};
  return ibv_modify_qp(side->qp, &attr,
                       IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
}

int open_queue_pair(struct side *side, struct ibv_srq *srq, uint32_t max_inline_data) {
  struct ibv_qp_init_attr init = {.send_cq = side->cq,
                                  .recv_cq = side->cq,
                                  .srq = srq,
                                  .qp_type = IBV_QPT_RC,
                                  .cap = {.max_send_wr = queue_length,
                                          .max_recv_wr = queue_length,
                                          .max_send_sge = 1,
                                          .max_recv_sge = 1,
                                          .max_inline_data = max_inline_data}};
  if (side->qp != NULL && ibv_destroy_qp(side->qp) != 0) return -1;
  side->qp = ibv_create_qp(side->pd, &init);
  return side->qp == NULL ? -1 : to_init(side);
}

int open_side(struct side *side, uint32_t max_inline_data) {
  memset(side, 0, sizeof *side);
  side->rnr_retry = 7;
  side->path_mtu = IBV_MTU_256;
  struct ibv_device **list = ibv_get_device_list(NULL);
  side->context = ibv_open_device(list[0]);
  ibv_free_device_list(list);
  side->pd = ibv_alloc_pd(side->context);
  side->channel = ibv_create_comp_channel(side->context);
  side->cq = ibv_create_cq(side->context, 64, NULL, side->channel, 0);
  side->buffer = calloc(1, buffer_bytes);
  side->mr = ibv_reg_mr(side->pd, side->buffer, buffer_bytes,
                        IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE |
                            IBV_ACCESS_REMOTE_ATOMIC);
  return side->mr == NULL ? -1 : open_queue_pair(side, NULL, max_inline_data);
}

int connect_queue_pair(struct side *side) {
  struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RTR,
                             .path_mtu = side->path_mtu,
                             .dest_qp_num = side->peer.qp_num,
                             .max_dest_rd_atomic = 1,
                             .min_rnr_timer = 12,
                             .ah_attr = {.dlid = (uint16_t)side->peer.lid, .port_num = 1}};
  int error = ibv_modify_qp(side->qp, &attr,
                            IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
                                IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER);
  if (error != 0) return -1;
  attr.qp_state = IBV_QPS_RTS;
  attr.timeout = 14;
  attr.retry_cnt = 7;
  attr.rnr_retry = side->rnr_retry;
  attr.max_rd_atomic = 1;
  error = ibv_modify_qp(side->qp, &attr,
                        IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
                            IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC);
  return error == 0 ? 0 : -1;
}

static int open_socket(const char *server) {
  struct addrinfo hints = {.ai_family = AF_INET, .ai_socktype = SOCK_STREAM};
  if (server == NULL) hints.ai_flags = AI_PASSIVE;
  struct addrinfo *found = NULL;
  if (getaddrinfo(server, port, &hints, &found) != 0) return -1;
  int descriptor = socket(found->ai_family, found->ai_socktype, found->ai_protocol);
  if (server != NULL) {
    if (connect(descriptor, found->ai_addr, found->ai_addrlen) != 0) descriptor = -1;
    freeaddrinfo(found);
    return descriptor;
  }
  const int is_bound = bind(descriptor, found->ai_addr, found->ai_addrlen);
  freeaddrinfo(found);
  if (is_bound != 0 || listen(descriptor, 1) != 0) return -1;
  const int accepted = accept(descriptor, NULL, NULL);
  close(descriptor);
  return accepted;
}

static int read_all(int descriptor, void *to, size_t length) {
  char *next = to;
  while (length > 0) {
    const ssize_t count = read(descriptor, next, length);
    if (count <= 0) return -1;
    next += count;
    length -= (size_t)count;
  }
  return 0;
}

struct card own_card(const struct side *side) {
  struct ibv_port_attr attributes;
  if (ibv_query_port(side->context, 1, &attributes) != 0) abort();
  return (struct card){.lid = attributes.lid,
                       .qp_num = side->qp->qp_num,
                       .rkey = side->mr->rkey,
                       .mtu = attributes.active_mtu,
                       .address = (uintptr_t)side->buffer};
}

int write_card(const struct side *side, const struct card *own) {
  return write(side->socket, own, sizeof *own) == (ssize_t)sizeof *own ? 0 : -1;
}

int read_card(struct side *side) {
  return read_all(side->socket, &side->peer, sizeof side->peer);
}

int exchange_cards(struct side *side) {
  const struct card own = own_card(side);
  if (write_card(side, &own) != 0 || read_card(side) != 0) return -1;
  return connect_queue_pair(side);
}

int open_connection(struct side *side, const char *server) {
  side->socket = open_socket(server);
  return side->socket < 0 ? -1 : 0;
}

int meet(struct side *side, const char *server) {
  return open_connection(side, server) == 0 ? exchange_cards(side) : -1;
}

void tell(const struct side *side, char word) {
  if (write(side->socket, &word, 1) != 1) abort();
}

char hear(const struct side *side) {
  char word = 0;
  return read(side->socket, &word, 1) == 1 ? word : 0;
}

struct ibv_wc wait_for_completion(const struct side *side) {
  struct ibv_wc completion;
  while (ibv_poll_cq(side->cq, 1, &completion) == 0) {
  }
  return completion;
}

int post_receive(const struct side *side, uint64_t word, uint32_t length) {
  struct ibv_sge entry = {
      .addr = (uintptr_t)(side->buffer + word), .length = length, .lkey = side->mr->lkey};
  struct ibv_recv_wr work = {.wr_id = word, .sg_list = &entry, .num_sge = 1};
  struct ibv_recv_wr *bad = NULL;
  return ibv_post_recv(side->qp, &work, &bad);
}

int post(const struct side *side, enum ibv_wr_opcode opcode, unsigned flags, uint64_t word,
         uint32_t length, uint64_t peer_word) {
  struct ibv_sge entry = {
      .addr = (uintptr_t)(side->buffer + word), .length = length, .lkey = side->mr->lkey};
  struct ibv_send_wr work = {.wr_id = word,
                             .sg_list = &entry,
                             .num_sge = 1,
                             .opcode = opcode,
                             .send_flags = flags,
                             .wr.rdma = {.remote_addr = side->peer.address + 8 * peer_word,
                                         .rkey = side->peer.rkey}};
  struct ibv_send_wr *bad = NULL;
  return ibv_post_send(side->qp, &work, &bad);
}
