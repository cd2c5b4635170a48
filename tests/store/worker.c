/* A client that works until SIGTERM. It stores its own keys, then gets and sets these and keys that
   all workers share, and checks every value. Arguments: the kind of work (read: GETs; paced: GETs,
   with a pause of a millisecond after each; mixed: as many SETs as GETs; paced-mixed: both), a
   unique worker number, the number of its keys, and the length of a value in bytes. With `look`, it
   instead gets the keys of all workers up to that number, checks that their workers stored the
   values, and ends. More arguments are the name of the server, and names and values of options.

   It prints a line every tenth of a second, with the time of the monotonic clock and its progress
   (tick NANOSECONDS GETS SETS REFUSED LONGEST_SET_NANOSECONDS), and a line for each operation that
   fails (error OPERATION STATUS). A SET that is refused because the memory is full has changed
   nothing and is not an error. */
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "falafel/falafel.h"

/* Checks only some words of a large value, so that transfer takes most of the time. */
enum { shared_keys = 8, key_capacity = 64, words_between = 61 };

static const uint64_t second_ns = 1000000000;
static const uint64_t tick_ns = 100000000;
static const struct timespec pace = {.tv_nsec = 1000000};

static volatile sig_atomic_t is_over = 0;

static void end(int number) {
  (void)number;
  is_over = 1;
}

static uint64_t now_ns(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (uint64_t)time.tv_sec * second_ns + (uint64_t)time.tv_nsec;
}

struct worker {
  falafel_store* store;
  unsigned number;
  unsigned keys;
  size_t value_bytes;
  int looks_at_others;
  uint64_t random;
  uint64_t next_version;
  uint64_t* versions;       /* of its own keys; 0: not stored */
  unsigned char* is_unsure; /* a SET of that key has an unknown outcome */
  uint64_t* value;
  uint64_t gets, sets, refused, longest_set_ns;
};

static uint64_t draw(struct worker* self, uint64_t bound) {
  self->random ^= self->random << 13;
  self->random ^= self->random >> 7;
  self->random ^= self->random << 17;
  return self->random % bound;
}

static void complain(const char* operation, const char* why) {
  printf("error %s %s\n", operation, why);
  fflush(stdout);
}

static void report(const struct worker* self) {
  printf("tick %llu %llu %llu %llu %llu\n", (unsigned long long)now_ns(),
         (unsigned long long)self->gets, (unsigned long long)self->sets,
         (unsigned long long)self->refused, (unsigned long long)self->longest_set_ns);
  fflush(stdout);
}

/* Keys after the worker's own keys are shared. */
static size_t key_of(const struct worker* self, unsigned index, char* key) {
  const int length = index < self->keys
                         ? snprintf(key, key_capacity, "own %u of %u", index, self->number)
                         : snprintf(key, key_capacity, "shared %u", index - self->keys);
  return (size_t)length;
}

static void set(struct worker* self, unsigned index) {
  char key[key_capacity];
  const size_t key_bytes = key_of(self, index, key);
  const uint64_t version = ++self->next_version << 16 | self->number;
  for (size_t word = 0; word < self->value_bytes / sizeof version; word += words_between)
    self->value[word] = version;
  const uint64_t began_ns = now_ns();
  const int status = (int)falafel_set(self->store, key, key_bytes, self->value, self->value_bytes);
  const uint64_t took_ns = now_ns() - began_ns;
  if (took_ns > self->longest_set_ns) self->longest_set_ns = took_ns;
  if (status == FALAFEL_OK) {
    ++self->sets;
    if (index < self->keys) {
      self->versions[index] = version;
      self->is_unsure[index] = 0;
    }
  } else if (status == FALAFEL_STORE_FULL) {
    ++self->refused;
  } else {
    if (status == FALAFEL_UNKNOWN_OUTCOME && index < self->keys) self->is_unsure[index] = 1;
    complain("set", falafel_status_text(status));
  }
}

/* A value consists of copies of its version; the value of an own key has the last version stored.
   Returns the problem, or null. */
static const char* fault_of(const struct worker* self, unsigned index, const uint64_t* value,
                            size_t bytes) {
  const int is_own = index < self->keys && !self->looks_at_others;
  if (is_own && bytes != self->value_bytes) return "a value of another length";
  for (size_t word = 0; word < bytes / sizeof *value; word += words_between) {
    if (value[word] != value[0]) return "a value that nobody stored";
  }
  if (self->looks_at_others && (value[0] & 0xffff) != self->number)
    return "a value of another worker";
  if (is_own && !self->is_unsure[index] && value[0] != self->versions[index])
    return "a value that is not the last one";
  return NULL;
}

static void get(struct worker* self, unsigned index) {
  char key[key_capacity];
  const size_t key_bytes = key_of(self, index, key);
  void* value;
  size_t bytes;
  const int status = (int)falafel_get(self->store, key, key_bytes, &value, &bytes);
  if (status == FALAFEL_OK) {
    ++self->gets;
    const char* const fault = fault_of(self, index, value, bytes);
    if (fault != NULL) complain("get", fault);
    free(value);
  } else if (status == FALAFEL_NOT_FOUND) {
    ++self->gets;
    if (index < self->keys && self->versions[index] != 0)
      complain("get", "a key that was stored is not found");
  } else {
    complain("get", falafel_status_text(status));
  }
}

static void work(struct worker* self, int writes, int is_paced) {
  for (unsigned index = 0; index < self->keys && !is_over; ++index) set(self, index);
  report(self);
  for (uint64_t next_report_ns = now_ns() + tick_ns; !is_over;) {
    const unsigned index = (unsigned)draw(self, self->keys + shared_keys);
    if (writes && draw(self, 2) == 0)
      set(self, index);
    else
      get(self, index);
    if (is_paced) nanosleep(&pace, NULL);
    if (now_ns() >= next_report_ns) {
      report(self);
      next_report_ns += tick_ns;
    }
  }
  report(self);
}

/* Checks the keys of other workers, which may have been killed at any point. */
static void look(struct worker* self) {
  const unsigned workers = self->number;
  for (self->number = 1; self->number <= workers; ++self->number) {
    for (unsigned index = 0; index < self->keys; ++index) get(self, index);
  }
  report(self);
}

static int open_store(falafel_store** store, int argc, char** argv) {
  char message[256];
  falafel_options* const options = falafel_options_create();
  for (int at = 6; at + 1 < argc; at += 2) falafel_options_set(options, argv[at], argv[at + 1]);
  const char* const server = argc > 5 ? argv[5] : "falafel";
  const int status = (int)falafel_open(server, options, store, message, sizeof message);
  if (status != FALAFEL_OK) complain("open", message);
  falafel_options_destroy(options);
  return status;
}

int main(int argc, char** argv) {
  struct worker self = {0};
  if (argc < 5) return 2;
  const struct sigaction action = {.sa_handler = end};
  sigaction(SIGTERM, &action, NULL);
  self.number = (unsigned)strtoul(argv[2], NULL, 10);
  self.keys = (unsigned)strtoul(argv[3], NULL, 10);
  self.value_bytes = strtoul(argv[4], NULL, 10) / sizeof(uint64_t) * sizeof(uint64_t);
  self.random = 0x9e3779b97f4a7c15u * (self.number + 1);
  self.versions = calloc(self.keys, sizeof *self.versions);
  self.is_unsure = calloc(self.keys, 1);
  self.value = calloc(1, self.value_bytes);
  if (open_store(&self.store, argc, argv) != FALAFEL_OK) return 1;
  if (strcmp(argv[1], "look") == 0) {
    self.looks_at_others = 1;
    look(&self);
  } else {
    const int is_paced_mixed = strcmp(argv[1], "paced-mixed") == 0;
    work(&self, strcmp(argv[1], "mixed") == 0 || is_paced_mixed,
         strcmp(argv[1], "paced") == 0 || is_paced_mixed);
  }
  falafel_close(self.store);
  free(self.value);
  free(self.is_unsure);
  free(self.versions);
  return 0;
}
