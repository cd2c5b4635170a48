/* One side of a verbs program in C, as examples of libibverbs have it: a device, one buffer, one
 * RC queue pair, and a TCP connection over which both sides tell each other where they are. */
#pragma once

#include <infiniband/verbs.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { buffer_bytes = 4096, queue_length = 8 };

struct card {
  uint32_t lid;
  uint32_t qp_num;
  uint32_t rkey;
  uint32_t mtu; /* enum ibv_mtu: the largest that the port can send */
  uint64_t address;
};

struct side {
  struct ibv_context* context;
  struct ibv_pd* pd;
  struct ibv_comp_channel* channel;
  struct ibv_cq* cq;
  struct ibv_mr* mr;
  struct ibv_qp* qp;
  uint64_t* buffer;
  uint8_t rnr_retry; /* 7 is without end */
  enum ibv_mtu path_mtu;
  struct card peer;
  int socket;
};

/* A queue pair in INIT, in place of the one that the side has; with `srq` unless it is NULL. */
int open_queue_pair(struct side* side, struct ibv_srq* srq, uint32_t max_inline_data);
/* Makes everything up to a queue pair in INIT. 0, or -1 if something fails. */
int open_side(struct side* side, uint32_t max_inline_data);
/* TCP: listens if `server` is NULL, and connects to it otherwise. */
int open_connection(struct side* side, const char* server);
/* Connects over TCP, and exchanges cards. */
int meet(struct side* side, const char* server);
/* Both sides tell their cards and connect their queue pairs, over the TCP connection they have. */
int exchange_cards(struct side* side);
struct card own_card(const struct side* side);
int write_card(const struct side* side, const struct card* own);
int read_card(struct side* side);
/* From INIT to RTS, to the queue pair of `peer`. */
int connect_queue_pair(struct side* side);
int to_init(struct side* side);

/* One byte over TCP. */
void tell(const struct side* side, char word);
char hear(const struct side* side);

/* Polls until a completion arrives. */
struct ibv_wc wait_for_completion(const struct side* side);
int post_receive(const struct side* side, uint64_t word, uint32_t length);
/* SEND, WRITE or READ of `length` bytes from `word` of the buffer on, to or from `peer_word`. */
int post(const struct side* side, enum ibv_wr_opcode opcode, unsigned flags, uint64_t word,
         uint32_t length, uint64_t peer_word);

#ifdef __cplusplus
}
#endif
