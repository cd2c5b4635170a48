/* Libraries that cannot be used, each for the reason that the compiler's option names. */
#include <falafel/checkers/specification_library.h>

#ifndef LACKS_FUNCTION

__attribute__((unused)) static int initial(const falafel_value* value, falafel_output* state) {
  (void)value;
  (void)state;
  return 1;
}

__attribute__((unused)) static int apply(const void* state, size_t state_bytes,
                                         const falafel_call* call, falafel_output* next) {
  (void)state;
  (void)state_bytes;
  (void)call;
  (void)next;
  return 1;
}

__attribute__((unused)) static const falafel_specification specification = {
#ifdef HAS_OTHER_VERSION
    .version = FALAFEL_SPECIFICATION_VERSION + 1,
#else
    .version = FALAFEL_SPECIFICATION_VERSION,
#endif
#ifndef LACKS_NAME
    .name = "faulty",
#endif
#ifndef LACKS_INITIAL
    .initial = initial,
#endif
#ifndef LACKS_APPLY
    .apply = apply,
#endif
};

FALAFEL_EXPORT const falafel_specification* falafel_user_specification(void) {
#ifdef LACKS_SPECIFICATION
  return NULL;
#else
  return &specification;
#endif
}

#endif
