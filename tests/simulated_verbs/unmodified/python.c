// Debian's Python as a position-independent program: its library, started as the program starts it.
#include <dlfcn.h>
#include <stdio.h>

int main(int count, char** arguments) {
  void* const library = dlopen("libpython3.11.so.1.0", RTLD_NOW | RTLD_GLOBAL);
  if (library == NULL) {
    fprintf(stderr, "%s\n", dlerror());
    return 1;
  }
  int (*run)(int, char**) = (__extension__(int (*)(int, char**)) dlsym(library, "Py_BytesMain"));
  return run == NULL ? 1 : run(count, arguments);
}
