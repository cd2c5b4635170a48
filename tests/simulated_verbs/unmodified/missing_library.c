int from_missing_library(void);
int from_missing_library(void) { return 0; }
