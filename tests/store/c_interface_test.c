/* The C interface, from C. The server is in $FALAFEL_DIRECTORY (with_server.py). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "falafel/falafel.h"

static int failures = 0;

#define EXPECT(condition)                                                                          \
  do {                                                                                             \
    if (!(condition)) {                                                                            \
      fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);                      \
      ++failures;                                                                                  \
    }                                                                                              \
  } while (0)

static void test_values(falafel_store* store) {
  void* value = NULL;
  size_t value_bytes = 0;
  EXPECT(falafel_get(store, "key", 3, &value, &value_bytes) == FALAFEL_NOT_FOUND);
  EXPECT(value == NULL);
  EXPECT(falafel_set(store, "key", 3, "a\0b", 3) == FALAFEL_OK);
  EXPECT(falafel_get(store, "key", 3, &value, &value_bytes) == FALAFEL_OK);
  EXPECT(value_bytes == 3 && memcmp(value, "a\0b", 3) == 0);
  free(value);
  EXPECT(falafel_set(store, "key", 3, NULL, 0) == FALAFEL_OK);
  value = NULL;
  EXPECT(falafel_get(store, "key", 3, &value, &value_bytes) == FALAFEL_OK);
  EXPECT(value_bytes == 0 && value != NULL);
  free(value);
  EXPECT(falafel_delete(store, "key", 3) == FALAFEL_OK);
  EXPECT(falafel_delete(store, "key", 3) == FALAFEL_NOT_FOUND);
}

static void test_buffers(falafel_store* store) {
  static char long_value[3000];
  memset(long_value, 'v', sizeof long_value);
  const size_t room = FALAFEL_BUFFER_BYTES(3, sizeof long_value);
  falafel_buffer* buffer = NULL;
  EXPECT(falafel_buffer_create(store, room + 100, &buffer) == FALAFEL_OK && buffer != NULL);
  falafel_part part = {.buffer = buffer, .offset = 100, .bytes = room, .value = NULL};
  size_t value_bytes = 0;
  EXPECT(falafel_get_into(store, "key", 3, &part, &value_bytes) == FALAFEL_NOT_FOUND);
  EXPECT(part.value == NULL && value_bytes == 0);
  EXPECT(falafel_set(store, "key", 3, long_value, sizeof long_value) == FALAFEL_OK);
  EXPECT(falafel_get_into(store, "key", 3, &part, &value_bytes) == FALAFEL_OK);
  EXPECT(value_bytes == sizeof long_value);
  EXPECT(part.value != NULL && memcmp(part.value, long_value, value_bytes) == 0);
  EXPECT(falafel_set(store, "key", 3, "a\0b", 3) == FALAFEL_OK);
  EXPECT(falafel_get_into(store, "key", 3, &part, &value_bytes) == FALAFEL_OK);
  EXPECT(value_bytes == 3 && memcmp(part.value, "a\0b", 3) == 0);
  falafel_part small = {.buffer = buffer, .offset = 0, .bytes = 20, .value = NULL};
  value_bytes = 0;
  EXPECT(falafel_get_into(store, "key", 3, &small, &value_bytes) == FALAFEL_BUFFER_TOO_SMALL);
  EXPECT(small.value == NULL && value_bytes == 3);
  EXPECT(falafel_delete(store, "key", 3) == FALAFEL_OK);
  falafel_buffer_destroy(buffer);
  falafel_buffer_destroy(NULL);
}

static void test_refusals_of_buffers(falafel_store* store) {
  falafel_buffer* buffer = (falafel_buffer*)&failures;
  EXPECT(falafel_buffer_create(store, 0, &buffer) == FALAFEL_INVALID && buffer == NULL);
  EXPECT(falafel_buffer_create(NULL, 1, &buffer) == FALAFEL_INVALID);
  EXPECT(falafel_buffer_create(store, 1, NULL) == FALAFEL_INVALID);
  EXPECT(falafel_buffer_create(store, (size_t)1 << 50, &buffer) == FALAFEL_OUT_OF_MEMORY);
  EXPECT(buffer == NULL);
  EXPECT(falafel_buffer_create(store, 100, &buffer) == FALAFEL_OK);
  falafel_part part = {.buffer = buffer, .offset = 0, .bytes = 100, .value = NULL};
  size_t value_bytes;
  EXPECT(falafel_get_into(NULL, "key", 3, &part, &value_bytes) == FALAFEL_INVALID);
  EXPECT(falafel_get_into(store, NULL, 3, &part, &value_bytes) == FALAFEL_INVALID);
  EXPECT(falafel_get_into(store, "", 0, &part, &value_bytes) == FALAFEL_INVALID);
  EXPECT(falafel_get_into(store, "key", 3, NULL, &value_bytes) == FALAFEL_INVALID);
  EXPECT(falafel_get_into(store, "key", 3, &part, NULL) == FALAFEL_INVALID);
  part.offset = 1;
  EXPECT(falafel_get_into(store, "key", 3, &part, &value_bytes) == FALAFEL_INVALID);
  part.offset = 101;
  part.bytes = 0;
  EXPECT(falafel_get_into(store, "key", 3, &part, &value_bytes) == FALAFEL_INVALID);
  falafel_buffer_destroy(buffer);
  part = (falafel_part){.buffer = NULL, .offset = 0, .bytes = 0, .value = NULL};
  EXPECT(falafel_get_into(store, "key", 3, &part, &value_bytes) == FALAFEL_INVALID);
}

static void test_refusals(falafel_store* store) {
  static char large[2 << 20];
  void* value;
  size_t value_bytes;
  EXPECT(falafel_set(store, "key", 3, large, sizeof large) == FALAFEL_VALUE_TOO_LARGE);
  EXPECT(falafel_set(store, "", 0, "value", 5) == FALAFEL_INVALID);
  EXPECT(falafel_set(store, NULL, 3, "value", 5) == FALAFEL_INVALID);
  EXPECT(falafel_set(store, "key", 3, NULL, 5) == FALAFEL_INVALID);
  EXPECT(falafel_set(NULL, "key", 3, "value", 5) == FALAFEL_INVALID);
  EXPECT(falafel_get(store, "key", 3, NULL, &value_bytes) == FALAFEL_INVALID);
  EXPECT(falafel_get(store, "key", 3, &value, NULL) == FALAFEL_INVALID);
  EXPECT(falafel_delete(store, NULL, 3) == FALAFEL_INVALID);
}

static void test_opening(void) {
  falafel_store* store = (falafel_store*)&failures;
  char message[200];
  EXPECT(falafel_open("nobody", NULL, &store, message, sizeof message) == FALAFEL_NO_SERVER);
  EXPECT(store == NULL);
  EXPECT(strstr(message, "'nobody'") != NULL);
  EXPECT(falafel_open("nobody", NULL, &store, message, 5) == FALAFEL_NO_SERVER);
  EXPECT(strlen(message) == 4);
  EXPECT(falafel_open("nobody", NULL, &store, NULL, 0) == FALAFEL_NO_SERVER);
  EXPECT(falafel_open(NULL, NULL, &store, message, sizeof message) == FALAFEL_INVALID);
  EXPECT(falafel_open("falafel", NULL, NULL, message, sizeof message) == FALAFEL_INVALID);
  falafel_close(NULL);
  EXPECT(falafel_is_connected(NULL) == 0);
  EXPECT(falafel_server_incarnation(NULL) == 0);
}

/* Opens a store with one option, and returns the status and the message. */
static falafel_status open_with(const char* name, const char* value, char* message, size_t bytes) {
  falafel_store* store;
  falafel_options* const options = falafel_options_create();
  falafel_options_set(options, name, value);
  const falafel_status status = falafel_open("falafel", options, &store, message, bytes);
  falafel_options_destroy(options);
  falafel_close(store);
  return status;
}

static void test_options(void) {
  char message[1000];
  EXPECT(open_with("directory", getenv("FALAFEL_DIRECTORY"), message, sizeof message) ==
         FALAFEL_OK);
  EXPECT(open_with("max_operations_in_flight", "2", message, sizeof message) == FALAFEL_OK);
  EXPECT(open_with("directory", "/nowhere", message, sizeof message) == FALAFEL_NO_SERVER);
  EXPECT(open_with("fabric", "ether", message, sizeof message) == FALAFEL_INVALID);
  EXPECT(strstr(message, "unknown fabric 'ether'") != NULL);
  EXPECT(open_with("fabrik", "shm", message, sizeof message) == FALAFEL_INVALID);
  EXPECT(strstr(message, "there is no option 'fabrik'; available: fabric, ") != NULL);
  EXPECT(open_with("port", "256", message, sizeof message) == FALAFEL_INVALID);
  EXPECT(strcmp(message, "option 'port': '256' is not a number from 0 to 255") == 0);
  EXPECT(open_with("port", "", message, sizeof message) == FALAFEL_INVALID);
  EXPECT(open_with("metrics", "perhaps", message, sizeof message) == FALAFEL_INVALID);
  EXPECT(open_with("huge_pages", "yes", message, sizeof message) == FALAFEL_INVALID);
  EXPECT(strcmp(message, "option 'huge_pages': 'yes' is not true or false") == 0);
}

static void test_setting_options(void) {
  falafel_options* const options = falafel_options_create();
  EXPECT(falafel_options_set(options, "partition_key", "0xffff") == FALAFEL_OK);
  EXPECT(falafel_options_set(options, "partition_key", "0x10000") == FALAFEL_INVALID);
  EXPECT(falafel_options_set(options, "gid_index", "3") == FALAFEL_OK);
  EXPECT(falafel_options_set(options, "huge_pages", "false") == FALAFEL_OK);
  EXPECT(falafel_options_set(options, "spare_device", "mlx5_1") == FALAFEL_OK);
  EXPECT(falafel_options_set(options, "spare_port", "2") == FALAFEL_OK);
  EXPECT(falafel_options_set(options, "spare_port", "256") == FALAFEL_INVALID);
  EXPECT(falafel_options_set(options, "spare_gid_index", "3") == FALAFEL_OK);
  EXPECT(falafel_options_set(options, "spare_own_address", "10.2.0.1") == FALAFEL_OK);
  EXPECT(falafel_options_set(options, NULL, "3") == FALAFEL_INVALID);
  EXPECT(falafel_options_set(options, "port", NULL) == FALAFEL_INVALID);
  EXPECT(falafel_options_set(NULL, "port", "1") == FALAFEL_INVALID);
  falafel_options_destroy(options);
  falafel_options_destroy(NULL);
}

/* The store is not a cache. */
static void test_time_to_live(falafel_store* store) {
  EXPECT(falafel_set_expiring(store, "expiring", 8, "1", 1, 1) == FALAFEL_NOT_A_CACHE);
  EXPECT(falafel_set_expiring(store, "expiring", 8, "1", 1, FALAFEL_PINNED) == FALAFEL_NOT_A_CACHE);
  EXPECT(falafel_set_expiring(store, "expiring", 8, "1", 1, 0) == FALAFEL_OK);
  EXPECT(falafel_delete(store, "expiring", 8) == FALAFEL_OK);
  EXPECT(falafel_set_expiring(NULL, "expiring", 8, "1", 1, 0) == FALAFEL_INVALID);
}

static void test_compare_and_set(falafel_store* store) {
  const uint64_t keep = FALAFEL_KEEP_EXPIRY;
  EXPECT(falafel_compare_and_set(store, "cas", 3, "", 0, "1", 1, keep) == FALAFEL_DIFFERS);
  EXPECT(falafel_compare_and_set(store, "cas", 3, NULL, 0, "1", 1, keep) == FALAFEL_OK);
  EXPECT(falafel_compare_and_set(store, "cas", 3, NULL, 0, "2", 1, 0) == FALAFEL_DIFFERS);
  EXPECT(falafel_compare_and_set(store, "cas", 3, "1", 1, NULL, 0, 0) == FALAFEL_OK);
  EXPECT(falafel_compare_and_set(store, "cas", 3, "", 0, "3", 1, 1) == FALAFEL_NOT_A_CACHE);
  EXPECT(falafel_compare_and_set(store, "cas", 3, "", 0, NULL, 1, 0) == FALAFEL_INVALID);
  EXPECT(falafel_compare_and_set(store, "cas", 3, NULL, 1, "3", 1, 0) == FALAFEL_INVALID);
  EXPECT(falafel_compare_and_set(NULL, "cas", 3, "", 0, "3", 1, 0) == FALAFEL_INVALID);
  void* value = NULL;
  size_t bytes = 1;
  EXPECT(falafel_get(store, "cas", 3, &value, &bytes) == FALAFEL_OK && bytes == 0);
  free(value);
  EXPECT(falafel_delete(store, "cas", 3) == FALAFEL_OK);
}

static void test_metrics(falafel_store* store) {
  char* text = NULL;
  EXPECT(falafel_set(store, "metrics", 7, "1", 1) == FALAFEL_OK);
  EXPECT(falafel_metrics(&store, 1, &text) == FALAFEL_OK);
  EXPECT(strstr(text, "operation=\"set\",outcome=\"stored\"} ") != NULL);
  EXPECT(strstr(text, "falafel_client_connected_stores{server=\"falafel\"} 1\n") != NULL);
  free(text);
  falafel_store* const twice[] = {store, store};
  EXPECT(falafel_metrics(twice, 2, &text) == FALAFEL_OK);
  EXPECT(strstr(text, "falafel_client_connected_stores{server=\"falafel\"} 2\n") != NULL);
  free(text);
  falafel_store* const nothing[] = {NULL};
  EXPECT(falafel_metrics(nothing, 1, &text) == FALAFEL_INVALID);
  EXPECT(falafel_metrics(NULL, 1, &text) == FALAFEL_INVALID);
  EXPECT(falafel_metrics(&store, 1, NULL) == FALAFEL_INVALID);
}

static void test_texts(void) {
  EXPECT(falafel_version()[0] != '\0');
  for (int status = FALAFEL_OK; status <= FALAFEL_DIFFERS; ++status) {
    EXPECT(strcmp(falafel_status_text(status), "unknown status") != 0);
  }
  EXPECT(strcmp(falafel_status_text(99), "unknown status") == 0);
}

int main(void) {
  falafel_store* store;
  char message[256] = "";
  if (falafel_open("falafel", NULL, &store, message, sizeof message) != FALAFEL_OK) {
    fprintf(stderr, "%s\n", message);
    return 1;
  }
  EXPECT(falafel_is_connected(store) == 1);
  test_time_to_live(store);
  test_compare_and_set(store);
  EXPECT(falafel_server_incarnation(store) != 0);
  test_values(store);
  test_refusals(store);
  test_buffers(store);
  test_refusals_of_buffers(store);
  test_metrics(store);
  falafel_close(store);
  test_opening();
  test_options();
  test_setting_options();
  test_texts();
  return failures == 0 ? 0 : 1;
}
