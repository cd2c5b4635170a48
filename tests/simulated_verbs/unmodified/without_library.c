// The loader does not find a library that this program needs.
int from_missing_library(void);
int main(void) { return from_missing_library(); }
