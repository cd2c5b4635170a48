// A program that does what its argument says.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <infiniband/verbs.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

// falafel run has loaded its library, so this program need not be linked with one.
#define LIBRARY(name) (__extension__(__typeof__(&name)) dlsym(RTLD_DEFAULT, #name))

static char variable[64];

static int register_memory(void* memory) {
  struct ibv_device** const devices = LIBRARY(ibv_get_device_list)(NULL);
  struct ibv_context* const context = LIBRARY(ibv_open_device)(devices[0]);
  struct ibv_pd* const domain = LIBRARY(ibv_alloc_pd)(context);
  return LIBRARY(ibv_reg_mr)(domain, memory, 64, IBV_ACCESS_LOCAL_WRITE) == NULL;
}

static int use_anonymous_memory(void) {
  const size_t bytes = 100000;
  char* memory = NULL;
  for (int round = 0; round < 2; ++round) {
    memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED || memory[0] != 0 || memory[bytes - 1] != 0) return 1;
    memory[0] = 1;
    if (round == 0 && munmap(memory, bytes) != 0) return 1;
  }
  if (madvise(memory, bytes, MADV_DONTNEED) != 0 || memory[0] != 0) return 1;
  return register_memory(memory);
}

// The C library's own variable.
static void* memory_of_library(void) {
  const time_t begin = 0;
  return gmtime(&begin);
}

static int print_random_numbers(void) {
  unsigned long numbers[2];
  if (getrandom(numbers, sizeof numbers, 0) != sizeof numbers) return 1;
  printf("%lx %lx\n", numbers[0], numbers[1]);
  return getentropy(numbers, sizeof numbers) != 0 || numbers[0] == 0;
}

static long microseconds_since(const struct timeval* begin) {
  struct timeval now;
  gettimeofday(&now, NULL);
  return (now.tv_sec - begin->tv_sec) * 1000000 + now.tv_usec - begin->tv_usec;
}

// Measures longer and longer times by two clocks, as perftest does. Returns how many of them differ
// by more than 0.4 ms.
static int compare_clocks(void) {
  int different = 0;
  for (long wanted_us = 100; wanted_us < 2100; wanted_us += 20) {
    struct timespec first;
    struct timespec last;
    struct timeval begin;
    clock_gettime(CLOCK_MONOTONIC, &first);
    gettimeofday(&begin, NULL);
    long waited_us = 0;
    while (waited_us < wanted_us) waited_us = microseconds_since(&begin);
    clock_gettime(CLOCK_MONOTONIC, &last);
    const long whole_us =
        (last.tv_sec - first.tv_sec) * 1000000 + (last.tv_nsec - first.tv_nsec) / 1000;
    if (whole_us - waited_us > 400) ++different;
  }
  return different;
}

// Reads clocks and does nothing else. Each reading takes a time, and both clocks agree.
static int read_clocks(void) {
  struct timeval begin;
  struct timespec last;
  gettimeofday(&begin, NULL);
  clock_gettime(CLOCK_MONOTONIC, &last);
  for (int reading = 0; reading < 5000; ++reading) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    const long passed_ns = (now.tv_sec - last.tv_sec) * 1000000000 + now.tv_nsec - last.tv_nsec;
    if (reading > 50 && passed_ns < 100000) return 1;
    last = now;
  }
  printf("%ld readings in 100 us\n", 500000 / microseconds_since(&begin));
  struct timespec wall;
  return timespec_get(&wall, TIME_UTC) != TIME_UTC || clock() < 400000;
}

static volatile sig_atomic_t alarms;

static void count_alarm(int signal_number) {
  (void)signal_number;
  ++alarms;
}

static int wait_for_alarm(void) {
  struct timeval begin;
  signal(SIGALRM, count_alarm);
  if (alarm(100) != 0 || alarm(2) != 100) return 1;
  gettimeofday(&begin, NULL);
  while (alarms == 0) usleep(10000);
  printf("alarm after %ld s\n", microseconds_since(&begin) / 1000000);
  return alarm(0) != 0;
}

static int ignore_alarm(void) {
  alarm(1);
  return (int)sleep(5);
}

int main(int count, char** arguments) {
  const char* const wanted = count > 1 ? arguments[1] : "";
  printf("before: %s\n", wanted);
  if (strcmp(wanted, "hour") == 0) {
    const time_t start = time(NULL);
    sleep(3600);
    printf("slept %ld s\n", (long)(time(NULL) - start));
    return 0;
  }
  if (strcmp(wanted, "alarm") == 0) return wait_for_alarm();
  if (strcmp(wanted, "ignored") == 0) return ignore_alarm();
  if (strcmp(wanted, "clocks") == 0) return compare_clocks();
  if (strcmp(wanted, "readings") == 0) return read_clocks();
  if (strcmp(wanted, "fork") == 0) return fork() < 0;
  if (strcmp(wanted, "crash") == 0) *(volatile int*)16 = 1;
  if (strcmp(wanted, "spin") == 0) {
    for (volatile unsigned long spins = 0;; ++spins) continue;
  }
  if (strcmp(wanted, "mmap") == 0) return use_anonymous_memory();
  if (strcmp(wanted, "random") == 0) return print_random_numbers();
  if (strcmp(wanted, "variable") == 0) return register_memory(variable);
  if (strcmp(wanted, "foreign") == 0) return register_memory(memory_of_library());
  if (strcmp(wanted, "wild") == 0) clock_gettime(CLOCK_MONOTONIC, (struct timespec*)(void*)4096);
  if (strcmp(wanted, "library") == 0) {
    struct timespec* const time = memory_of_library();
    time->tv_sec = -1;
    clock_gettime(CLOCK_MONOTONIC, time);
    return time->tv_sec < 0;
  }
  return 7;
}
