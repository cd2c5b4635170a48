/* Counters by name, each judged alone: add answers the count before. It has no functions but those
   that it needs. The state is the count, in eight bytes. */
#include <falafel/checkers/specification_library.h>

static int initial(const falafel_value* value, falafel_output* state) {
  if (value != NULL) return 0;
  const int64_t zero = 0;
  falafel_append(state, &zero, sizeof zero);
  return 1;
}

static const falafel_value* argument(const falafel_call* call, size_t index) {
  return &falafel_field(call->arguments, "value")->elements[index];
}

static int apply(const void* state, size_t state_bytes, const falafel_call* call,
                 falafel_output* next) {
  int64_t count;
  memcpy(&count, state, state_bytes);
  if (call->result != NULL && call->result->integer != count) return 0;
  count += argument(call, 1)->integer;
  falafel_append(next, &count, sizeof count);
  return 1;
}

static void part(const falafel_call* call, falafel_output* name) {
  const falafel_value* counter = argument(call, 0);
  falafel_append(name, counter->text, counter->text_bytes);
}

static const falafel_specification specification = {.version = FALAFEL_SPECIFICATION_VERSION,
                                                    .name = "counters",
                                                    .initial = initial,
                                                    .apply = apply,
                                                    .part = part};

FALAFEL_EXPORT const falafel_specification* falafel_user_specification(void) {
  return &specification;
}
