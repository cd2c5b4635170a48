#include "loads.h"

#include <pthread.h>
#include <stdint.h>
#include <string.h>

#include "../reports/side.h"

enum { words = 4 };

static int write_words(struct side *side, uint64_t count, uint64_t from, uint64_t to) {
  if (post(side, IBV_WR_RDMA_WRITE, IBV_SEND_SIGNALED, from, (uint32_t)(8 * count), to) != 0) {
    return -1;
  }
  return wait_for_completion(side).status == IBV_WC_SUCCESS ? 0 : -1;
}

/* Both stay until the other one has its completions: an acknowledgement may be lost. */
static void part(const struct side *side) {
  tell(side, 'd');
  hear(side);
}

int polled_flag_server(int cured) {
  (void)cured;
  struct side side;
  if (open_side(&side, 0) != 0 || meet(&side, NULL) != 0) return 1;
  const volatile uint64_t *flag = side.buffer;
  while (*flag == 0) {
  }
  part(&side);
  return *flag == 7 ? 0 : 2;
}

int polled_flag_client(int cured) {
  (void)cured;
  struct side side;
  if (open_side(&side, 0) != 0 || meet(&side, "server") != 0) return 1;
  side.buffer[0] = 7;
  if (write_words(&side, 1, 0, 0) != 0) return 1;
  part(&side);
  return 0;
}

int atomic_flag_server(int cured) {
  (void)cured;
  struct side side;
  if (open_side(&side, 0) != 0 || meet(&side, NULL) != 0) return 1;
  uint32_t *flag = (uint32_t *)(side.buffer + 3);
  while (__atomic_load_n(flag, __ATOMIC_ACQUIRE) == 0) {
  }
  uint32_t expected = 9;
  if (!__atomic_compare_exchange_n(flag, &expected, 10, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) {
    return 2;
  }
  if (__atomic_fetch_add(flag, 1, __ATOMIC_SEQ_CST) != 10) return 3;
  tell(&side, 'd');
  return hear(&side) == 'e' ? 0 : 1;
}

int atomic_flag_client(int cured) {
  (void)cured;
  struct side side;
  if (open_side(&side, 0) != 0 || meet(&side, "server") != 0) return 1;
  side.buffer[0] = 9;
  if (write_words(&side, 1, 0, 3) != 0 || hear(&side) != 'd') return 1;
  if (post(&side, IBV_WR_RDMA_READ, IBV_SEND_SIGNALED, 1, 8, 3) != 0) return 1;
  if (wait_for_completion(&side).status != IBV_WC_SUCCESS) return 1;
  tell(&side, 'e');
  return side.buffer[1] == 11 ? 0 : 2;
}

struct shared {
  volatile int is_plain_set;
  int is_atomic_set;
};

static void *set_both(void *argument) {
  struct shared *shared = argument;
  shared->is_plain_set = 1;
  __atomic_store_n(&shared->is_atomic_set, 1, __ATOMIC_RELEASE);
  return NULL;
}

int polled_thread_server(int cured) {
  (void)cured;
  struct shared shared = {0, 0};
  pthread_t thread;
  if (pthread_create(&thread, NULL, set_both, &shared) != 0) return 1;
  while (__atomic_load_n(&shared.is_atomic_set, __ATOMIC_ACQUIRE) == 0) {
  }
  while (!shared.is_plain_set) {
  }
  return pthread_join(thread, NULL);
}

int polled_thread_client(int cured) {
  (void)cured;
  struct shared shared = {0, 0};
  pthread_t thread;
  if (pthread_create(&thread, NULL, set_both, &shared) != 0) return 1;
  while (!shared.is_plain_set) {
  }
  return pthread_join(thread, NULL);
}

static uint64_t checksum(const volatile uint64_t *data) {
  uint64_t sum = 1;
  for (int word = 0; word < words; ++word) sum = 31 * sum + data[word];
  return sum;
}

/* The flag, a checksum, and the data. */
int flag_before_data_server(int cured) {
  struct side side;
  if (open_side(&side, 0) != 0 || meet(&side, NULL) != 0) return 1;
  const volatile uint64_t *flag = side.buffer;
  while (*flag == 0) {
  }
  const volatile uint64_t *data = flag + 2;
  while (cured && flag[1] != checksum(data)) {
  }
  int is_complete = 1;
  for (int word = 0; word < words; ++word) is_complete &= data[word] == 5;
  part(&side);
  return is_complete ? 0 : 2;
}

int flag_before_data_client(int cured) {
  (void)cured;
  struct side side;
  if (open_side(&side, 0) != 0 || meet(&side, "server") != 0) return 1;
  for (int word = 0; word < words; ++word) side.buffer[2 + word] = 5;
  side.buffer[1] = checksum(side.buffer + 2);
  side.buffer[0] = 1;
  if (write_words(&side, 2 + words, 0, 0) != 0) return 1;
  part(&side);
  return 0;
}

int flag_behind_data_server(int cured) {
  struct side side;
  if (open_side(&side, 0) != 0 || post_receive(&side, 8, 8) != 0 || meet(&side, NULL) != 0) {
    return 1;
  }
  const volatile uint64_t *flag = side.buffer;
  if (cured) {
    wait_for_completion(&side);
  } else {
    while (*flag == 0) {
    }
  }
  const uint64_t data = side.buffer[1];
  part(&side);
  return data == 5 ? 0 : 2;
}

int flag_behind_data_client(int cured) {
  struct side side;
  if (open_side(&side, 0) != 0 || meet(&side, "server") != 0) return 1;
  side.buffer[0] = 1;
  side.buffer[1] = 5;
  if (write_words(&side, 1, 1, 1) != 0) return 1;
  if (post(&side, cured ? IBV_WR_SEND : IBV_WR_RDMA_WRITE, IBV_SEND_SIGNALED, 0, 8, 0) != 0) {
    return 1;
  }
  if (wait_for_completion(&side).status != IBV_WC_SUCCESS) return 1;
  part(&side);
  return 0;
}

int borrowed_buffer_server(int cured) {
  (void)cured;
  struct side side;
  if (open_side(&side, 0) != 0 || post_receive(&side, 0, 8) != 0) return 1;
  if (meet(&side, NULL) != 0) return 1;
  if (wait_for_completion(&side).status != IBV_WC_SUCCESS) return 1;
  part(&side);
  return side.buffer[0] == 5 ? 0 : 2;
}

int borrowed_buffer_client(int cured) {
  struct side side;
  if (open_side(&side, 0) != 0 || meet(&side, "server") != 0) return 1;
  volatile uint64_t *buffer = side.buffer;
  *buffer = 5;
  if (post(&side, IBV_WR_SEND, IBV_SEND_SIGNALED, 0, 8, 0) != 0) return 1;
  if (cured && wait_for_completion(&side).status != IBV_WC_SUCCESS) return 1;
  *buffer = 6;
  *buffer = 5;
  if (!cured && wait_for_completion(&side).status != IBV_WC_SUCCESS) return 1;
  part(&side);
  return 0;
}

int torn_copy_server(int cured) {
  struct side side;
  if (open_side(&side, 0) != 0 || post_receive(&side, 8, 8) != 0 || meet(&side, NULL) != 0) {
    return 1;
  }
  uint64_t copy[words];
  int is_torn = 0;
  if (cured) wait_for_completion(&side);
  do {
    memcpy(copy, side.buffer, sizeof copy);
    for (int word = 1; word < words; ++word) is_torn |= copy[word] != copy[0];
  } while (copy[0] == 0 && !is_torn);
  part(&side);
  return is_torn ? 2 : 0;
}

int torn_copy_client(int cured) {
  (void)cured;
  struct side side;
  if (open_side(&side, 0) != 0 || meet(&side, "server") != 0) return 1;
  memset(side.buffer, 1, sizeof(uint64_t) * words);
  if (post(&side, IBV_WR_RDMA_WRITE, IBV_SEND_SIGNALED, 0, 8 * words, 0) != 0) return 1;
  if (post(&side, IBV_WR_SEND, IBV_SEND_SIGNALED, 0, 8, 0) != 0) return 1;
  wait_for_completion(&side);
  wait_for_completion(&side);
  part(&side);
  return 0;
}
