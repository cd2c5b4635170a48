// A program that does what its argument says.
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

int main(int count, char** arguments) {
  const char* const wanted = count > 1 ? arguments[1] : "";
  printf("before: %s\n", wanted);
  if (strcmp(wanted, "hour") == 0) {
    const time_t start = time(NULL);
    sleep(3600);
    printf("slept %ld s\n", (long)(time(NULL) - start));
    return 0;
  }
  if (strcmp(wanted, "fork") == 0) return fork() < 0;
  if (strcmp(wanted, "crash") == 0) *(volatile int*)16 = 1;
  if (strcmp(wanted, "spin") == 0) {
    for (volatile unsigned long spins = 0;; ++spins) continue;
  }
  return 7;
}
