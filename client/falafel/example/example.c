/* Stores and finds a value. */
#include <stdio.h>
#include <stdlib.h>

#include "falafel/falafel.h"

int main(void) {
  falafel_store* store;
  char message[256];
  if (falafel_open("falafel", NULL, &store, message, sizeof message) != FALAFEL_OK) {
    fprintf(stderr, "%s\n", message);
    return 1;
  }
  falafel_set(store, "greeting", 8, "hello", 5);
  void* value;
  size_t value_bytes;
  if (falafel_get(store, "greeting", 8, &value, &value_bytes) == FALAFEL_OK) {
    printf("greeting: %.*s\n", (int)value_bytes, (const char*)value);
    free(value);
  }
  falafel_close(store);
  return 0;
}
