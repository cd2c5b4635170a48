/* Mistakes with WRITEs. */
#include <errno.h>

#include "reports.h"
#include "side.h"

int full_queue_server(int cured) {
  (void)cured;
  struct side side;
  if (open_side(&side, 0) != 0 || meet(&side, NULL) != 0) return 1;
  return hear(&side) == 'd' ? 0 : 1;
}

int full_queue_client(int cured) {
  struct side side;
  if (open_side(&side, 0) != 0 || meet(&side, "server") != 0) return 1;
  for (int count = 1; count <= 3 * queue_length; ++count) {
    const int is_last_of_some = cured && count % (queue_length / 2) == 0;
    const unsigned flags = is_last_of_some ? IBV_SEND_SIGNALED : 0;
    if (post(&side, IBV_WR_RDMA_WRITE, flags, 0, 8, 0) != 0) return 2; /* ENOMEM */
    if (is_last_of_some) wait_for_completion(&side);
  }
  tell(&side, 'd');
  return 0;
}

int early_answer_server(int cured) {
  struct side side;
  if (open_side(&side, 0) != 0 || meet(&side, NULL) != 0) return 1;
  side.buffer[0] = 42;
  if (post(&side, IBV_WR_RDMA_WRITE, IBV_SEND_SIGNALED, 0, 8, 1) != 0) return 1;
  if (cured) {
    /* Behind the WRITE, on its queue pair. */
    if (post(&side, IBV_WR_SEND, IBV_SEND_SIGNALED, 0, 8, 0) != 0) return 1;
  } else {
    tell(&side, 'd');
  }
  return hear(&side) == 'e' ? 0 : 1;
}

int early_answer_client(int cured) {
  struct side side;
  if (open_side(&side, 0) != 0 || post_receive(&side, 2, 8) != 0) return 1;
  if (meet(&side, "server") != 0) return 1;
  if (cured) {
    wait_for_completion(&side);
  } else {
    hear(&side);
  }
  const int is_there = side.buffer[1] == 42;
  tell(&side, 'e');
  return is_there ? 0 : 2;
}

int late_write_server(int cured) {
  (void)cured;
  struct side side;
  if (open_side(&side, 0) != 0 || meet(&side, NULL) != 0) return 1;
  volatile uint64_t *head = side.buffer;
  hear(&side); /* the round is over */
  *head = 0;   /* cleaned for the next one */
  tell(&side, 'c');
  hear(&side);
  return *head == 0 ? 0 : 2;
}

int late_write_client(int cured) {
  struct side side;
  if (open_side(&side, 0) != 0 || meet(&side, "server") != 0) return 1;
  side.buffer[0] = 7;
  if (post(&side, IBV_WR_RDMA_WRITE, IBV_SEND_SIGNALED, 0, 8, 0) != 0) return 1;
  if (cured) {
    /* The completion of the WRITE would not do: a READ behind it finds it in memory. */
    if (post(&side, IBV_WR_RDMA_READ, IBV_SEND_SIGNALED, 1, 8, 0) != 0) return 1;
    wait_for_completion(&side);
    wait_for_completion(&side);
  }
  tell(&side, 'o');
  hear(&side);
  tell(&side, 'n');
  hear(&side); /* until the server has ended */
  return 0;
}

int inline_limit_server(int cured) {
  (void)cured;
  struct side side;
  if (open_side(&side, 0) != 0 || post_receive(&side, 0, 64) != 0) return 1;
  if (meet(&side, NULL) != 0) return 1;
  if (wait_for_completion(&side).status != IBV_WC_SUCCESS) return 1;
  hear(&side); /* until the client has its completion */
  return 0;
}

int inline_limit_client(int cured) {
  struct side side;
  if (open_side(&side, 16) != 0 || meet(&side, "server") != 0) return 1;
  const uint32_t length = 24;
  const unsigned flags = cured && length > 16 ? 0 : IBV_SEND_INLINE;
  post(&side, IBV_WR_SEND, IBV_SEND_SIGNALED | flags, 0, length, 0);
  if (wait_for_completion(&side).status != IBV_WC_SUCCESS) return 1;
  tell(&side, 'd');
  return 0;
}
