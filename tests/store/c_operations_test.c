/* Batched and asynchronous operations of the C interface, from C. The server is in
   $FALAFEL_DIRECTORY (with_server.py). */
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "falafel/falafel.h"

enum { key_capacity = 16, many = 1000, seconds = 1000000000 };

static int failures = 0;

#define EXPECT(condition)                                                                          \
  do {                                                                                             \
    if (!(condition)) {                                                                            \
      fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);                      \
      ++failures;                                                                                  \
    }                                                                                              \
  } while (0)

static falafel_store* open_store(void) {
  falafel_store* store;
  char message[256] = "";
  if (falafel_open("falafel", NULL, &store, message, sizeof message) != FALAFEL_OK) {
    fprintf(stderr, "%s\n", message);
    exit(1);
  }
  return store;
}

static falafel_operation operation_on(int kind, const char* key, void* value, size_t value_bytes,
                                      size_t buffer_bytes) {
  const falafel_operation operation = {.kind = kind,
                                       .status = FALAFEL_TIMED_OUT,
                                       .key = key,
                                       .key_bytes = strlen(key),
                                       .value = value,
                                       .value_bytes = value_bytes,
                                       .buffer_bytes = buffer_bytes};
  return operation;
}

static char keys[many][key_capacity];

static void name_keys(void) {
  for (int number = 0; number < many; ++number) {
    snprintf(keys[number], key_capacity, "number %d", number);
  }
}

static void test_a_batch_sets_gets_and_deletes(falafel_store* store) {
  static falafel_operation operations[many];
  static int numbers[many];
  for (int number = 0; number < many; ++number) {
    numbers[number] = number;
    operations[number] =
        operation_on(FALAFEL_SET, keys[number], &numbers[number], sizeof number, 0);
  }
  EXPECT(falafel_execute(store, operations, many) == FALAFEL_OK);
  for (int number = 0; number < many; ++number) {
    EXPECT(operations[number].status == FALAFEL_OK);
    numbers[number] = -1;
    operations[number] =
        operation_on(FALAFEL_GET, keys[number], &numbers[number], 0, sizeof number);
  }
  EXPECT(falafel_execute(store, operations, many) == FALAFEL_OK);
  for (int number = 0; number < many; ++number) {
    EXPECT(operations[number].status == FALAFEL_OK);
    EXPECT(operations[number].value_bytes == sizeof number);
    EXPECT(numbers[number] == number);
    operations[number] = operation_on(FALAFEL_DELETE, keys[number], NULL, 0, 0);
  }
  EXPECT(falafel_execute(store, operations, many) == FALAFEL_OK);
  for (int number = 0; number < many; ++number) EXPECT(operations[number].status == FALAFEL_OK);
  EXPECT(falafel_execute(store, operations, 1) == FALAFEL_OK);
  EXPECT(operations[0].status == FALAFEL_NOT_FOUND);
}

static void test_buffers(falafel_store* store) {
  char buffer[5] = "xxxx";
  EXPECT(falafel_set(store, "key", 3, "value", 5) == FALAFEL_OK);
  falafel_operation gets[] = {
      operation_on(FALAFEL_GET, "key", buffer, 0, 4),
      operation_on(FALAFEL_GET, "key", NULL, 0, 0),
      operation_on(FALAFEL_GET, "nokey", NULL, 0, 0),
  };
  EXPECT(falafel_execute(store, gets, 3) == FALAFEL_OK);
  EXPECT(gets[0].status == FALAFEL_BUFFER_TOO_SMALL);
  EXPECT(gets[0].value_bytes == 5 && strcmp(buffer, "xxxx") == 0);
  EXPECT(gets[1].status == FALAFEL_OK);
  EXPECT(gets[1].value_bytes == 5 && memcmp(gets[1].value, "value", 5) == 0);
  free(gets[1].value);
  EXPECT(gets[2].status == FALAFEL_NOT_FOUND && gets[2].value == NULL);
  gets[0].buffer_bytes = sizeof buffer;
  EXPECT(falafel_execute(store, gets, 1) == FALAFEL_OK);
  EXPECT(gets[0].status == FALAFEL_OK && memcmp(buffer, "value", 5) == 0);
}

static void test_parts_of_a_buffer(falafel_store* store) {
  enum { count = 20, part_bytes = 100 };
  falafel_store* const other = open_store();
  falafel_buffer* buffer;
  EXPECT(falafel_buffer_create(store, count * part_bytes, &buffer) == FALAFEL_OK);
  falafel_operation operations[count];
  falafel_part parts[count];
  for (int number = 0; number < count; ++number) {
    EXPECT(falafel_set(store, keys[number], strlen(keys[number]), keys[number],
                       strlen(keys[number])) == FALAFEL_OK);
    parts[number] = (falafel_part){.buffer = buffer,
                                   .offset = (size_t)number * part_bytes,
                                   .bytes = part_bytes,
                                   .value = NULL};
    operations[number] = operation_on(FALAFEL_GET_INTO, keys[number], &parts[number], 0, 0);
  }
  parts[count - 1].bytes = 30; /* too short */
  operations[count - 2].value = NULL;
  EXPECT(falafel_execute(store, operations, count) == FALAFEL_OK);
  for (int number = 0; number < count - 2; ++number) {
    EXPECT(operations[number].status == FALAFEL_OK);
    EXPECT(operations[number].value_bytes == strlen(keys[number]));
    EXPECT(memcmp(parts[number].value, keys[number], strlen(keys[number])) == 0);
  }
  EXPECT(operations[count - 2].status == FALAFEL_INVALID);
  EXPECT(operations[count - 1].status == FALAFEL_BUFFER_TOO_SMALL);
  EXPECT(operations[count - 1].value_bytes == strlen(keys[count - 1]));
  parts[0].value = NULL;
  EXPECT(falafel_submit(store, operations, 1) == FALAFEL_OK);
  falafel_operation* ended;
  EXPECT(falafel_poll(store, &ended, 1, 60ull * seconds) == 1);
  EXPECT(ended->status == FALAFEL_OK && parts[0].value != NULL);
  EXPECT(falafel_execute(other, operations, 1) == FALAFEL_OK);
  EXPECT(operations[0].status == FALAFEL_INVALID);
  falafel_buffer_destroy(buffer);
  falafel_close(other);
}

static void test_mistakes(falafel_store* store) {
  falafel_operation operations[] = {
      operation_on(77, "key", NULL, 0, 0),
      operation_on(FALAFEL_SET, "key", NULL, 5, 0),
      operation_on(FALAFEL_SET, "", "value", 5, 0),
      {.kind = FALAFEL_GET, .key = NULL, .key_bytes = 3},
  };
  EXPECT(falafel_execute(store, operations, 4) == FALAFEL_OK);
  for (int index = 0; index < 4; ++index) EXPECT(operations[index].status == FALAFEL_INVALID);
  EXPECT(falafel_execute(NULL, operations, 1) == FALAFEL_INVALID);
  EXPECT(falafel_execute(store, NULL, 1) == FALAFEL_INVALID);
  EXPECT(falafel_execute(store, NULL, 0) == FALAFEL_OK);
  EXPECT(falafel_submit(NULL, operations, 1) == FALAFEL_INVALID);
  EXPECT(falafel_submit(store, NULL, 1) == FALAFEL_INVALID);
  falafel_operation* ended;
  EXPECT(falafel_poll(NULL, &ended, 1, 0) == 0);
  EXPECT(falafel_poll(store, &ended, 1, 60ull * seconds) == 0); /* nothing was submitted */
}

/* The store is not a cache. */
static void test_times_to_live(falafel_store* store) {
  falafel_operation operations[] = {
      operation_on(FALAFEL_SET_EXPIRING, "a", "1", 1, 0),
      operation_on(FALAFEL_SET_EXPIRING, "b", "1", 1, 0),
      operation_on(FALAFEL_SET_EXPIRING, "c", NULL, 1, 0),
      operation_on(FALAFEL_SET, "d", "1", 1, 99), /* its time to live is ignored */
  };
  operations[1].time_to_live_ns = seconds;
  EXPECT(falafel_execute(store, operations, 4) == FALAFEL_OK);
  EXPECT(operations[0].status == FALAFEL_OK);
  EXPECT(operations[1].status == FALAFEL_NOT_A_CACHE);
  EXPECT(operations[2].status == FALAFEL_INVALID);
  EXPECT(operations[3].status == FALAFEL_OK);
}

/* Returns whether falafel_poll has something to return, according to the descriptor. */
static int is_readable(falafel_store* store, int timeout_ms) {
  struct pollfd descriptor = {.fd = falafel_poll_descriptor(store), .events = POLLIN};
  return poll(&descriptor, 1, timeout_ms);
}

static void test_each_submitted_operation_is_returned_once(falafel_store* store) {
  static falafel_operation operations[many];
  int returned[many] = {0};
  for (int number = 0; number < many; ++number) {
    operations[number] = operation_on(FALAFEL_SET, keys[number], &keys[number], key_capacity, 0);
    operations[number].user_data = &returned[number];
  }
  EXPECT(is_readable(store, 0) == 0);
  EXPECT(falafel_submit(store, operations, many / 2) == FALAFEL_OK);
  EXPECT(falafel_submit(store, operations + many / 2, many - many / 2) == FALAFEL_OK);
  falafel_operation* ended[7];
  for (int left = many; left > 0;) {
    EXPECT(is_readable(store, -1) == 1);
    const size_t count = falafel_poll(store, ended, 7, 60ull * seconds);
    EXPECT(count >= 1 && count <= 7);
    if (count == 0) return;
    for (size_t index = 0; index < count; ++index) {
      EXPECT(ended[index]->status == FALAFEL_OK);
      ++*(int*)ended[index]->user_data;
    }
    left -= (int)count;
  }
  for (int number = 0; number < many; ++number) EXPECT(returned[number] == 1);
  EXPECT(is_readable(store, 0) == 0);
  EXPECT(falafel_poll(store, ended, 7, 60ull * seconds) == 0);
}

static atomic_bool has_got_all = false;

static void* get_hundred_times(void* store) {
  for (int number = 0; number < 100; ++number) {
    void* value;
    size_t value_bytes;
    EXPECT(falafel_get(store, keys[number], strlen(keys[number]), &value, &value_bytes) ==
           FALAFEL_OK);
    free(value);
  }
  has_got_all = true;
  return store;
}

/* Operations that never end must not lock out calls that wait. */
static void test_waiting_calls_get_their_turn(falafel_store* store) {
  enum { in_flight = 64 };
  falafel_operation operations[in_flight];
  static char buffers[in_flight][key_capacity];
  for (int number = 0; number < in_flight; ++number) {
    operations[number] = operation_on(FALAFEL_GET, keys[number], buffers[number], 0, key_capacity);
  }
  EXPECT(falafel_submit(store, operations, in_flight) == FALAFEL_OK);
  pthread_t thread;
  pthread_create(&thread, NULL, get_hundred_times, store);
  falafel_operation* ended[in_flight];
  while (!has_got_all) {
    const size_t count = falafel_poll(store, ended, in_flight, 60ull * seconds);
    for (size_t index = 0; index < count; ++index) falafel_submit(store, ended[index], 1);
  }
  pthread_join(thread, NULL);
  while (falafel_poll(store, ended, in_flight, 60ull * seconds) > 0) continue;
  for (int number = 0; number < in_flight; ++number) {
    EXPECT(strcmp(buffers[number], keys[number]) == 0);
  }
}

static void test_close_waits_for_submitted_operations(void) {
  static falafel_operation operations[many];
  falafel_store* const store = open_store();
  for (int number = 0; number < many; ++number) {
    operations[number] = operation_on(FALAFEL_DELETE, keys[number], NULL, 0, 0);
  }
  EXPECT(falafel_submit(store, operations, many) == FALAFEL_OK);
  falafel_close(store);
  falafel_store* const other = open_store();
  EXPECT(falafel_execute(other, operations, many) == FALAFEL_OK);
  for (int number = 0; number < many; ++number) {
    EXPECT(operations[number].status == FALAFEL_NOT_FOUND);
  }
  falafel_close(other);
}

int main(void) {
  name_keys();
  falafel_store* const store = open_store();
  test_a_batch_sets_gets_and_deletes(store);
  test_buffers(store);
  test_parts_of_a_buffer(store);
  test_mistakes(store);
  test_times_to_live(store);
  test_each_submitted_operation_is_returned_once(store);
  test_waiting_calls_get_their_turn(store);
  falafel_close(store);
  test_close_waits_for_submitted_operations();
  return failures == 0 ? 0 : 1;
}
