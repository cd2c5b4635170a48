/* A client that stores a key (its argument, or "held"), reports it, and waits for a line. */
#include <stdio.h>
#include <string.h>

#include "falafel/falafel.h"

int main(int argc, char** argv) {
  const char* const key = argc > 1 ? argv[1] : "held";
  falafel_store* store;
  char message[256];
  if (falafel_open("falafel", NULL, &store, message, sizeof message) != FALAFEL_OK) {
    fprintf(stderr, "%s\n", message);
    return 1;
  }
  if (falafel_set(store, key, strlen(key), "value", 5) != FALAFEL_OK) return 1;
  printf("stored\n");
  fflush(stdout);
  getchar();
  falafel_close(store);
  return 0;
}
