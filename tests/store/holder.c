/* A client that stays: it stores a key, says so, and waits for a line. */
#include <stdio.h>

#include "falafel/falafel.h"

int main(void) {
  falafel_store *store;
  char message[256];
  if (falafel_open("falafel", NULL, &store, message, sizeof message) != FALAFEL_OK) {
    fprintf(stderr, "%s\n", message);
    return 1;
  }
  if (falafel_set(store, "held", 4, "value", 5) != FALAFEL_OK) return 1;
  printf("stored\n");
  fflush(stdout);
  getchar();
  falafel_close(store);
  return 0;
}
