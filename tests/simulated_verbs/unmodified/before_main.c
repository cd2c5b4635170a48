// A program that does much before main runs: its loader, its constructor, and a thread of it.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

static void* memory_of_constructor;

static void print(const char* place) {
  unsigned long number = 0;
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  if (getrandom(&number, sizeof number, 0) != sizeof number) abort();
  printf("%s: process %d, %ld ns, random number %lx, memory %p and %p\n", place, (int)getpid(),
         (long)now.tv_nsec, number, malloc(100), memory_of_constructor);
  fflush(stdout);
}

static void* run_thread(void* place) {
  print(place);
  return NULL;
}

static void run_in_thread(const char* place) {
  char name[20];
  strcpy(name, place);
  pthread_t thread;
  if (pthread_create(&thread, NULL, run_thread, name) != 0) abort();
  usleep(1000);
  if (pthread_join(thread, NULL) != 0) abort();
}

__attribute__((constructor)) static void construct(void) {
  memory_of_constructor = malloc(1000);
  print("constructor");
  run_in_thread("its thread");
}

static int answer(void) { return 0; }

// The loader calls it, before the C library is ready.
__attribute__((used)) static int (*resolve(void))(void) {
  static const char text[] = "loaded\n";
  long written = 0;
  __asm__ volatile("syscall"
                   : "=a"(written)
                   : "a"(1L), "D"(1L), "S"(text), "d"(sizeof text - 1)
                   : "rcx", "r11", "memory");
  return written > 0 ? answer : NULL;
}
int resolved(void) __attribute__((ifunc("resolve")));
int (*volatile pointer)(void) = resolved;

int main(void) {
  print("main");
  run_in_thread("its thread");
  return pointer();
}
