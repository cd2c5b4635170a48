/* A queue with a capacity, as a specification for `falafel check`:

     push   answers true, or false if the queue is full and the value is not in it
     pop    answers the oldest value, or null if the queue is empty

   The initial value is the capacity; without one, it is 2. The state is the capacity, in eight
   bytes, and then the JSON text of each value with a zero behind it, the oldest value first. */
#include <falafel/checkers/specification_library.h>

static const int64_t usual_capacity = 2;

static int initial(const falafel_value* value, falafel_output* state) {
  if (value != NULL && (value->type != FALAFEL_VALUE_INTEGER || value->integer < 1)) return 0;
  const int64_t capacity = value != NULL ? value->integer : usual_capacity;
  falafel_append(state, &capacity, sizeof capacity);
  return 1;
}

static int64_t capacity_of(const char* state) {
  int64_t capacity;
  memcpy(&capacity, state, sizeof capacity);
  return capacity;
}

static int64_t values_in(const char* state, size_t state_bytes) {
  int64_t values = 0;
  for (size_t index = sizeof(int64_t); index < state_bytes; ++index) values += state[index] == '\0';
  return values;
}

static int push(const char* state, size_t state_bytes, const falafel_call* call,
                falafel_output* next) {
  const int fits = values_in(state, state_bytes) < capacity_of(state);
  if (call->result != NULL && call->result->integer != fits) return 0;
  const falafel_value* value = falafel_field(call->arguments, "value");
  falafel_append(next, state, state_bytes);
  if (fits) falafel_append(next, value->json, value->json_bytes + 1);
  return 1;
}

static int pop(const char* state, size_t state_bytes, const falafel_call* call,
               falafel_output* next) {
  const size_t head = sizeof(int64_t);
  const int is_empty = state_bytes == head;
  const char* oldest = is_empty ? "null" : state + head;
  if (call->result != NULL && strcmp(call->result->json, oldest) != 0) return 0;
  const size_t popped_bytes = is_empty ? 0 : strlen(oldest) + 1;
  falafel_append(next, state, head);
  falafel_append(next, state + head + popped_bytes, state_bytes - head - popped_bytes);
  return 1;
}

static int apply(const void* state, size_t state_bytes, const falafel_call* call,
                 falafel_output* next) {
  if (falafel_is_operation(call, "push")) return push(state, state_bytes, call, next);
  return pop(state, state_bytes, call, next);
}

/* "[1, 2]" */
static void describe(const void* state, size_t state_bytes, falafel_output* text) {
  const char* values = state;
  size_t position = sizeof(int64_t);
  falafel_append_text(text, "[");
  while (position < state_bytes) {
    if (position > sizeof(int64_t)) falafel_append_text(text, ", ");
    falafel_append_text(text, values + position);
    position += strlen(values + position) + 1;
  }
  falafel_append_text(text, "]");
}

static const char* refuse(const falafel_call* call) {
  if (falafel_is_operation(call, "pop")) return NULL;
  if (!falafel_is_operation(call, "push")) return "the operations are push and pop";
  const falafel_value* value = falafel_field(call->arguments, "value");
  if (value == NULL || value->type == FALAFEL_VALUE_NULL) return "push needs a value";
  const int is_answer = call->result == NULL || call->result->type == FALAFEL_VALUE_BOOLEAN;
  return is_answer ? NULL : "push answers true or false";
}

/* A pop that finds nothing, and a push that finds no room. */
static int only_reads(const falafel_call* call) {
  if (call->result == NULL) return 0;
  if (falafel_is_operation(call, "pop")) return call->result->type == FALAFEL_VALUE_NULL;
  return !call->result->integer;
}

static const falafel_specification specification = {
    .version = FALAFEL_SPECIFICATION_VERSION,
    .name = "bounded_queue",
    .initial = initial,
    .apply = apply,
    .describe = describe,
    .refuse = refuse,
    .only_reads = only_reads,
};

FALAFEL_EXPORT const falafel_specification* falafel_user_specification(void) {
  return &specification;
}
