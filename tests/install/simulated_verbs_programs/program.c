/* A program that waits for its own thread by loads alone. */
#include <pthread.h>
#include <stddef.h>

static void *set(void *argument) {
  *(volatile int *)argument = 1;
  return NULL;
}

int program_main(void) {
  volatile int is_set = 0;
  pthread_t thread;
  if (pthread_create(&thread, NULL, set, (void *)&is_set) != 0) return 1;
  while (!is_set) {
  }
  return pthread_join(thread, NULL);
}
