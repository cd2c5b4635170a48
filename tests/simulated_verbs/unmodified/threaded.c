// A program with threads, which does what its argument says.
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define THREADS 3
#define ROUNDS 4

#define REQUIRE(condition)                                                                         \
  do {                                                                                             \
    if (!(condition)) {                                                                            \
      printf("line %d: %s is false\n", __LINE__, #condition);                                      \
      exit(3);                                                                                     \
    }                                                                                              \
  } while (0)

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t all_there = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_barrier_t barrier;
static pthread_key_t key;
static sem_t semaphore;
static _Thread_local int own;
static int counter;
static int unlocked;
static int arrived;
static int made;
static int destroyed;
static int last_ones;

static void destroy(void* value) {
  // A call within a destructor is one of this thread.
  free(malloc(16));
  destroyed += *(int*)value;
}

static void make_key(void) {
  ++made;
  REQUIRE(pthread_key_create(&key, destroy) == 0);
}

static void* work(void* argument) {
  const int number = *(int*)argument;
  // The simulator writes to the stack of this thread.
  struct timespec now = {-1, -1};
  REQUIRE(clock_gettime(CLOCK_MONOTONIC, &now) == 0 && now.tv_nsec >= 0);
  pthread_once(&once, make_key);
  REQUIRE(own == 0 && pthread_getspecific(key) == NULL);
  own = number;
  pthread_setspecific(key, argument);
  for (int round = 0; round < ROUNDS; ++round) {
    pthread_mutex_lock(&mutex);
    const int seen = counter;
    sched_yield();
    counter = seen + 1;
    pthread_mutex_unlock(&mutex);
  }
  for (int round = 0; round < ROUNDS; ++round) {
    pthread_rwlock_rdlock(&lock);
    const int seen = unlocked;
    pthread_rwlock_unlock(&lock);
    sched_yield();
    unlocked = seen + 1;
  }
  const int result = pthread_barrier_wait(&barrier);
  REQUIRE(result == 0 || result == PTHREAD_BARRIER_SERIAL_THREAD);
  pthread_mutex_lock(&mutex);
  if (result != 0) ++last_ones;
  if (++arrived == THREADS) pthread_cond_broadcast(&all_there);
  while (arrived < THREADS) pthread_cond_wait(&all_there, &mutex);
  pthread_mutex_unlock(&mutex);
  REQUIRE(own == number && *(int*)pthread_getspecific(key) == number);
  sem_post(&semaphore);
  if (number == 1) pthread_exit(argument);
  return argument;
}

static int work_together(void) {
  pthread_t ids[THREADS];
  int numbers[THREADS];
  REQUIRE(pthread_barrier_init(&barrier, NULL, THREADS) == 0);
  REQUIRE(sem_init(&semaphore, 0, 0) == 0);
  for (int index = 0; index < THREADS; ++index) {
    numbers[index] = index + 1;
    REQUIRE(pthread_create(&ids[index], NULL, work, &numbers[index]) == 0);
  }
  for (int index = 0; index < THREADS; ++index) REQUIRE(sem_wait(&semaphore) == 0);
  REQUIRE(sem_trywait(&semaphore) == -1 && errno == EAGAIN);
  for (int index = 0; index < THREADS; ++index) {
    void* result = NULL;
    REQUIRE(pthread_join(ids[index], &result) == 0 && result == &numbers[index]);
  }
  REQUIRE(counter == THREADS * ROUNDS && made == 1 && last_ones == 1 && destroyed == 6);
  printf("counted %d, without a lock %d\n", counter, unlocked);
  return 0;
}

static void* post(void* argument) {
  free(malloc((size_t) * (int*)argument));
  sem_post(&semaphore);
  return NULL;
}

// More threads than have room for their stacks at a time.
static int start_many(void) {
  sem_init(&semaphore, 0, 0);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  pthread_attr_setstacksize(&attributes, 1 << 28);
  for (int index = 0; index < 20; ++index) {
    pthread_t id;
    int bytes = index + 1;
    if (index % 2 == 0) {
      REQUIRE(pthread_create(&id, &attributes, post, &bytes) == 0);
    } else {
      REQUIRE(pthread_create(&id, NULL, post, &bytes) == 0 && pthread_detach(id) == 0);
    }
    REQUIRE(sem_wait(&semaphore) == 0);
    usleep(1000);
  }
  return 0;
}

static volatile int flag;

static void* set_flag(void* argument) {
  usleep(1000);
  flag = 1;
  return argument;
}

// Waits in a loop that makes no call. One of them changes its stack, too.
static int wait_for_flag(int changes_stack) {
  pthread_t id;
  for (int round = 0; round < 3; ++round) {
    flag = 0;
    REQUIRE(pthread_create(&id, NULL, set_flag, NULL) == 0);
    if (changes_stack) {
      for (volatile int other = 0; flag == 0; other = 1 - other) continue;
    } else {
      while (flag == 0) continue;
    }
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    printf("%ld ns\n", now.tv_nsec);
    pthread_join(id, NULL);
  }
  return 0;
}

static int read_time_stamps(void) {
  unsigned int processor = 0;
  const unsigned long begin = __builtin_ia32_rdtsc();
  usleep(1000);
  const unsigned long middle = __builtin_ia32_rdtscp(&processor);
  usleep(1000);
  const unsigned long end = __builtin_ia32_rdtsc();
  REQUIRE(middle - begin >= 1000000 && middle - begin < 1100000);
  REQUIRE(end - middle >= 1000000 && end - middle < 1100000);
  return 0;
}

static void* wait_forever(void* argument) {
  pthread_mutex_lock(argument);
  return NULL;
}

static void* end_process(void* argument) {
  if (argument == NULL) exit(5);
  *(volatile int*)16 = 1;
  return NULL;
}

static void* sleep_a_second(void* argument) {
  sleep(1);
  return argument;
}

static int try_to_join(void) {
  pthread_t id;
  void* result = NULL;
  REQUIRE(pthread_create(&id, NULL, sleep_a_second, &mutex) == 0);
  REQUIRE(pthread_tryjoin_np(id, &result) == EBUSY);
  sleep(2);
  REQUIRE(pthread_tryjoin_np(id, &result) == 0 && result == &mutex);
  return pthread_tryjoin_np(id, &result) == 0;
}

static int run_thread(void* (*function)(void*), void* argument) {
  pthread_t id;
  REQUIRE(pthread_create(&id, NULL, function, argument) == 0);
  return pthread_join(id, NULL);
}

int main(int count, char** arguments) {
  const char* const wanted = count > 1 ? arguments[1] : "";
  printf("before: %s\n", wanted);
  if (strcmp(wanted, "work") == 0) return work_together();
  if (strcmp(wanted, "many") == 0) return start_many();
  if (strcmp(wanted, "flag") == 0) return wait_for_flag(0);
  if (strcmp(wanted, "stack") == 0) return wait_for_flag(1);
  if (strcmp(wanted, "try") == 0) return try_to_join();
  if (strcmp(wanted, "stamps") == 0) return read_time_stamps();
  if (strcmp(wanted, "deadlock") == 0) {
    pthread_mutex_lock(&mutex);
    return run_thread(wait_forever, &mutex);
  }
  if (strcmp(wanted, "exit") == 0) return run_thread(end_process, NULL);
  if (strcmp(wanted, "crash") == 0) return run_thread(end_process, &mutex);
  if (strcmp(wanted, "cancel") == 0) return pthread_cancel(pthread_self());
  if (strcmp(wanted, "left") == 0) {
    pthread_t id;
    pthread_mutex_lock(&mutex);
    return pthread_create(&id, NULL, wait_forever, &mutex);
  }
  return 7;
}
