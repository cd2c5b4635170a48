/* A sequential specification of your own for `falafel check`, as a shared library: what the object
   does when its operations execute one after the other. docs/checkers.md explains how to use it;
   examples/bounded_queue is one.

     static int apply(const void *state, size_t state_bytes, const falafel_call *call,
                      falafel_output *next) { ... }
     static const falafel_specification specification = {
         .version = FALAFEL_SPECIFICATION_VERSION, .name = "bounded_queue", .initial = initial,
         .apply = apply};
     FALAFEL_EXPORT const falafel_specification *falafel_user_specification(void) {
       return &specification;
     }

   Compile it with `cc -shared -fPIC`. It needs no library of Falafel.

   States are bytes. Two states are the same if and only if their bytes are, so write each state in
   one way only, without the padding of structures and without addresses.

   The functions depend on their arguments alone: the search calls them in any order, many times,
   and remembers what they did. Only one thread calls them. No exception may leave them. Arguments
   are valid until the function returns. A function that crashes ends the whole program.

   Version 1 stays as it is. A later version may add members to the ends of the structures that a
   library reads; it will load libraries of version 1 as well. */
#ifndef FALAFEL_CHECKERS_SPECIFICATION_LIBRARY_H
#define FALAFEL_CHECKERS_SPECIFICATION_LIBRARY_H

/* This is C: NOLINTBEGIN(modernize-*,readability-identifier-naming) */

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

#define FALAFEL_SPECIFICATION_VERSION 1
#define FALAFEL_EXPORT __attribute__((visibility("default")))

typedef enum falafel_value_type {
  FALAFEL_VALUE_NULL = 0,
  FALAFEL_VALUE_BOOLEAN = 1,
  FALAFEL_VALUE_INTEGER = 2, /* fits int64_t */
  FALAFEL_VALUE_NUMBER = 3,  /* any other number */
  FALAFEL_VALUE_TEXT = 4,
  FALAFEL_VALUE_ARRAY = 5,
  FALAFEL_VALUE_OBJECT = 6
} falafel_value_type;

/* A value of the history, as JSON has it. */
typedef struct falafel_value {
  falafel_value_type type;
  const char* name;  /* of a field of an object; otherwise NULL */
  int64_t integer;   /* BOOLEAN: 0 or 1; INTEGER */
  const char* text;  /* TEXT: the characters in UTF-8, with a zero behind them; otherwise NULL */
  size_t text_bytes; /* without that zero */
  const char* json;  /* of every type: the JSON text, with a zero behind it. Equal values have equal
                        texts, so a specification that only keeps values can keep these. */
  size_t json_bytes;
  const struct falafel_value* elements; /* ARRAY; OBJECT: the fields, in the order of their names */
  size_t count;
} falafel_value;

typedef struct falafel_call {
  const char* operation; /* "push" */
  /* An OBJECT: the fields of the operation's line, but client, object, operation, call, return,
     outcome and result. In a history of Jepsen: the field `value`, the value of the call, unless it
     is nil. */
  const falafel_value* arguments;
  /* The answer: the field `result`, or the value of Jepsen's :ok. NULL: the answer is unknown, so
     any answer is right. Points to NULL if the operation was answered without a result. */
  const falafel_value* result;
} falafel_call;

/* Takes bytes from a function. */
typedef struct falafel_output {
  void (*append)(struct falafel_output* output, const void* bytes, size_t count);
} falafel_output;

/* Only version, name, initial and apply are required; the others may be NULL. */
typedef struct falafel_specification {
  uint32_t version; /* FALAFEL_SPECIFICATION_VERSION */
  const char* name; /* as in the first line of a history: {"specification": "bounded_queue"} */

  /* Appends the state before the first operation. `value` is that of the option --initial or of the
     history's first line; NULL: none was given. Returns 0 if it cannot be. */
  int (*initial)(const falafel_value* value, falafel_output* state);

  /* Returns 1 if the operation may have the result of the call in this state, and then appends the
     state afterwards. Returns 0 if the result would be wrong; the output does not matter then. */
  int (*apply)(const void* state, size_t state_bytes, const falafel_call* call,
               falafel_output* next);

  /* Appends a text for explanations: "the state is [1, 2]". NULL: messages show bytes. */
  void (*describe)(const void* state, size_t state_bytes, falafel_output* text);

  /* Returns a message if no such operation exists or its arguments or its result cannot be, else
     NULL. The history is unreadable then. A NULL function accepts everything. */
  const char* (*refuse)(const falafel_call* call);

  /* Returns 1 if the call never changes a state in which its result is right, as reads do. This
     makes the search much shorter. A NULL function stands for 0. */
  int (*only_reads)(const falafel_call* call);

  /* For an object that consists of independent ones, as a map does of its keys: appends the name of
     the one that the call concerns, which depends on operation and arguments only. Each is judged
     alone, with a state of its own. A NULL function: there is one object. */
  void (*part)(const falafel_call* call, falafel_output* name);
} falafel_specification;

/* The one function that the library exports. The specification stays valid and unchanged. */
FALAFEL_EXPORT const falafel_specification* falafel_user_specification(void);

/* The field of an object with this name; NULL: there is none. */
static inline const falafel_value* falafel_field(const falafel_value* object, const char* name) {
  for (size_t index = 0; index < object->count; ++index) {
    if (strcmp(object->elements[index].name, name) == 0) return &object->elements[index];
  }
  return NULL;
}

static inline int falafel_is_operation(const falafel_call* call, const char* name) {
  return strcmp(call->operation, name) == 0;
}

static inline void falafel_append(falafel_output* output, const void* bytes, size_t count) {
  output->append(output, bytes, count);
}

static inline void falafel_append_text(falafel_output* output, const char* text) {
  output->append(output, text, strlen(text));
}

#ifdef __cplusplus
}
#endif

/* NOLINTEND(modernize-*,readability-identifier-naming) */

#endif /* FALAFEL_CHECKERS_SPECIFICATION_LIBRARY_H */
