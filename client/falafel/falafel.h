/* The store for C, and for languages that can call C. falafel/store.h is the C++ interface.

     falafel_store *store;
     char message[256];
     if (falafel_open("falafel", NULL, &store, message, sizeof message) != FALAFEL_OK) ...
     falafel_set(store, "greeting", 8, "hello", 5);
     void *value; size_t value_bytes;
     if (falafel_get(store, "greeting", 8, &value, &value_bytes) == FALAFEL_OK) free(value);
     falafel_close(store);

   All functions may be called from any thread, and several threads may use one store concurrently.
   A child process must not use a store after fork(). Operations on one key are linearizable. An
   operation that finds the connection broken reconnects if the server is back; a restarted server
   is empty.

   C programs cannot catch exceptions, so no function throws; a lack of memory is a status. The
   exception is one of a callback in C++: it leaves falafel_for_each_key. With verbs, the process
   ends if it has no memory to take completions from the device.

   A program that was linked with one version of the shared library runs with every later version of
   the same SONAME: numbers and structures do not change, and functions are only added. */
#ifndef FALAFEL_FALAFEL_H
#define FALAFEL_FALAFEL_H

/* This is C: NOLINTBEGIN(modernize-*,readability-identifier-naming) */

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define FALAFEL_API __attribute__((visibility("default")))

typedef struct falafel_store falafel_store;     /* opaque */
typedef struct falafel_cluster falafel_cluster; /* opaque */
typedef struct falafel_options falafel_options; /* opaque */
typedef struct falafel_buffer falafel_buffer;   /* opaque */

/* The numbers must not change. */
typedef enum falafel_status {
  FALAFEL_OK = 0,
  FALAFEL_NOT_FOUND = 1,     /* get, delete: the key is not in the store */
  FALAFEL_INVALID = 2,       /* an argument is null; the key is empty or over 65,536 bytes; open: an
                                  option is invalid */
  FALAFEL_NO_SERVER = 3,     /* open: no server uses this name */
  FALAFEL_NO_PERMISSION = 4, /* open: this user may not connect */
  FALAFEL_OTHER_VERSION = 5, /* open: the server speaks another protocol version */
  FALAFEL_REFUSED = 6,       /* open: the server accepts no more clients */
  FALAFEL_UNREACHABLE = 7,   /* open: no answer in time */
  FALAFEL_OUT_OF_MEMORY = 8, /* this process has no memory; nothing was changed */
  FALAFEL_TABLE_FULL = 9,    /* set: no slot for a new key; delete keys */
  FALAFEL_STORE_FULL = 10,   /* set: no memory for the value; delete or overwrite keys */
  FALAFEL_VALUE_TOO_LARGE = 11, /* set: key and value do not fit into a region of the server, or
                                   one request of this machine's network device */
  FALAFEL_CORRUPTED =
      12, /* get: the stored value fails its checksum; set or delete of the key repairs it */
  FALAFEL_UNKNOWN_OUTCOME =
      13, /* set, delete: the connection broke; the change may have happened, or may still happen */
  FALAFEL_DISCONNECTED = 14,     /* the server is away; nothing was changed */
  FALAFEL_TIMED_OUT = 15,        /* the server did not answer in time; nothing was changed */
  FALAFEL_BUFFER_TOO_SMALL = 16, /* get into a buffer: the buffer has no room for the value */
  FALAFEL_NOT_A_CACHE = 17,      /* set with a time to live: the store keeps values */
  FALAFEL_DIFFERS = 18           /* compare_and_set: the key has another value, which it keeps */
} falafel_status;

/* Describes a falafel_status in English; any other number is described as unknown. The library owns
   the text, which is never null. */
FALAFEL_API const char* falafel_status_text(int status);

/* The version of the library, such as "0.1.0". */
FALAFEL_API const char* falafel_version(void);

/* Options for falafel_open and falafel_cluster_open. Names and values are text, so that a new
   option changes neither a structure nor a function. docs/library.md lists them: fabric, directory,
   device, ... Returns null if this process has no memory. */
FALAFEL_API falafel_options* falafel_options_create(void);
FALAFEL_API void falafel_options_destroy(falafel_options* options); /* null: does nothing */

/* Returns FALAFEL_INVALID if there is no option of this name or if it cannot have this value.
   Opening then fails, too, and explains the first such mistake, so callers need not check each
   call. */
FALAFEL_API falafel_status falafel_options_set(falafel_options* options, const char* name,
                                               const char* value);

/* Connects to the server of this name. With null `options`, all options have their defaults; the
   store keeps no reference to them. Sets `*store` to the store, or to null after an error. After an
   error, it also writes a message with the problem and the remedy to `message`, which may be null.
   The message is truncated to `message_bytes` and always ends with a zero byte. */
FALAFEL_API falafel_status falafel_open(const char* server, const falafel_options* options,
                                        falafel_store** store, char* message, size_t message_bytes);

/* Waits until all submitted operations have ended. Requires that no other thread uses the store.
   Does nothing if `store` is null. */
FALAFEL_API void falafel_close(falafel_store* store);

/* Returns 1 if the connection was intact at its last use, 0 otherwise, also if this process has no
   memory to find out. */
FALAFEL_API int falafel_is_connected(falafel_store* store);

/* Identifies the contents of the server to which the store was last connected. If the number
   changes, the server has restarted and was empty. */
FALAFEL_API uint64_t falafel_server_incarnation(falafel_store* store);

/* Sets `*text` to the metrics of these stores in the text format of Prometheus (version 0.0.4):
   operations by outcome, their latencies and their costs. It ends with a zero byte, and the caller
   must release it with free(). Stores of one server are added up. Does not wait for
   operations. Leaves `*text` unchanged after an error: FALAFEL_INVALID (a null pointer),
   FALAFEL_OUT_OF_MEMORY. */
FALAFEL_API falafel_status falafel_metrics(falafel_store* const* stores, size_t count, char** text);

/* One operation at a time */

/* Sets `*value` to memory that the caller must release with free(), and `*value_bytes` to its
   length. An empty value is not null either. Both are unchanged unless the result is FALAFEL_OK. */
FALAFEL_API falafel_status falafel_get(falafel_store* store, const void* key, size_t key_bytes,
                                       void** value, size_t* value_bytes);

/* `value` may be null if `value_bytes` is 0. The store keeps no reference to key or value. */
FALAFEL_API falafel_status falafel_set(falafel_store* store, const void* key, size_t key_bytes,
                                       const void* value, size_t value_bytes);

/* The same for a value that expires after `time_to_live_ns`; 0: never; FALAFEL_PINNED: never, and a
   full cache does not evict it. Only for a cache (falafel serve --cache); other stores answer
   FALAFEL_NOT_A_CACHE if there is a time to live. */
#define FALAFEL_PINNED (UINT64_MAX - 1)
FALAFEL_API falafel_status falafel_set_expiring(falafel_store* store, const void* key,
                                                size_t key_bytes, const void* value,
                                                size_t value_bytes, uint64_t time_to_live_ns);

/* Stores the value if the key has the expected one, or is absent if `expected` is null. Otherwise
   returns FALAFEL_DIFFERS. One atomic operation: of several clients that expect the same value, one
   stores its own. In a cache, the new value expires after `time_to_live_ns`; 0: never;
   FALAFEL_PINNED: as above; FALAFEL_KEEP_EXPIRY: when the present one would have, and is pinned if
   that is, as in a store that is no cache. */
#define FALAFEL_KEEP_EXPIRY UINT64_MAX
FALAFEL_API falafel_status falafel_compare_and_set(falafel_store* store, const void* key,
                                                   size_t key_bytes, const void* expected,
                                                   size_t expected_bytes, const void* value,
                                                   size_t value_bytes, uint64_t time_to_live_ns);

FALAFEL_API falafel_status falafel_delete(falafel_store* store, const void* key, size_t key_bytes);

/* Finds the keys of the store, and then calls `visit` once for each of them, in no particular
   order, with the time to live that the key had left when it was found (0: it does not expire;
   FALAFEL_PINNED: it is pinned).
   `visit` may use the store, but not close it. This process holds all keys in memory during the
   call. Calls of other threads wait while the keys are found. A key that is in the store all the
   time is visited; one that is inserted or deleted during the call may or may not be. Errors:
   FALAFEL_CORRUPTED (some values fail their checksum; all other keys were visited);
   FALAFEL_INVALID (a null pointer), FALAFEL_DISCONNECTED, FALAFEL_TIMED_OUT,
   FALAFEL_OUT_OF_MEMORY, when no key was visited. */
typedef void (*falafel_visit)(const void* key, size_t key_bytes, uint64_t time_to_live_ns,
                              void* user_data);
FALAFEL_API falafel_status falafel_for_each_key(falafel_store* store, falafel_visit visit,
                                                void* user_data);

/* Memory for values: the network delivers a value to where the caller keeps it, and nobody copies
   it. The memory is registered with the network device, and locked, until it is destroyed; over
   shared memory, it counts for the option memory_limit_bytes. Only this store may use it, and it
   must be destroyed before the store. Sets `*buffer`, or sets it to null after an error:
   FALAFEL_INVALID (a null pointer, no bytes), FALAFEL_OUT_OF_MEMORY (or the system may not lock
   the memory). */
FALAFEL_API falafel_status falafel_buffer_create(falafel_store* store, size_t bytes,
                                                 falafel_buffer** buffer);

/* No operation that uses the buffer may be in flight. The memory is released soon. Does nothing if
   `buffer` is null. */
FALAFEL_API void falafel_buffer_destroy(falafel_buffer* buffer);

/* The room that a value of this length needs, under a key of that length. */
#define FALAFEL_BUFFER_BYTES(key_bytes, value_bytes) ((size_t)32 + (key_bytes) + (value_bytes))

/* The part of a buffer that a get may use, and where the value is in it. */
typedef struct falafel_part {
  falafel_buffer* buffer;
  size_t offset;
  size_t bytes;
  void* value; /* the library sets it to the value if the result is FALAFEL_OK */
} falafel_part;

/* Gets the value into this part of a buffer of the store. Only this call may use the part until it
   returns; afterwards, all bytes of the part but the value are undefined, whatever the result is.
   FALAFEL_BUFFER_TOO_SMALL: the part has less than FALAFEL_BUFFER_BYTES; the library sets
   `*value_bytes` all the same. FALAFEL_INVALID: also a part that is not within a buffer of this
   store. */
FALAFEL_API falafel_status falafel_get_into(falafel_store* store, const void* key, size_t key_bytes,
                                            falafel_part* part, size_t* value_bytes);

/* Many operations in flight */

/* The numbers must not change. */
typedef enum falafel_kind {
  FALAFEL_GET = 1,
  FALAFEL_SET = 2,
  FALAFEL_DELETE = 3,
  FALAFEL_SET_EXPIRING = 4, /* set with a time to live, as falafel_set_expiring */
  FALAFEL_GET_INTO = 5 /* get as falafel_get_into: `value` is a falafel_part; not in clusters */
} falafel_kind;

/* An operation and its result. Members that an operation does not use are ignored: FALAFEL_SET
   ignores `time_to_live_ns`. "set" below stands for both kinds of set. */
typedef struct falafel_operation {
  int kind;   /* a falafel_kind */
  int status; /* the result, a falafel_status */
  const void* key;
  size_t key_bytes;
  /* set: the value, which is not changed. get: the buffer for the value; if it is null, the library
     sets it to memory that the caller must release with free(). FALAFEL_GET_INTO: a falafel_part,
     which must stay valid as long as the operation and is changed like it. */
  void* value;
  /* set: the length of the value. get: the library sets it to the length of the value, also if the
     buffer is too small. */
  size_t value_bytes;
  __extension__ union {
    size_t buffer_bytes;      /* get: the size of the buffer */
    uint64_t time_to_live_ns; /* FALAFEL_SET_EXPIRING: counts from when the operation runs; 0: the
                                 value does not expire; FALAFEL_PINNED: it is pinned */
  };
  void* user_data; /* for the caller; the library ignores it */
} falafel_operation;

/* Runs the operations and waits until all have ended. Each has a status of its own. They may take
   effect in any order, also those on the same key. The option max_operations_in_flight limits how
   many are in flight. Returns FALAFEL_INVALID and runs none if `store` is null, or `operations`
   although `count` is not 0, and FALAFEL_OUT_OF_MEMORY and runs none if there is no memory to
   begin. */
FALAFEL_API falafel_status falafel_execute(falafel_store* store, falafel_operation* operations,
                                           size_t count);

/* Starts the operations and returns without waiting for them. A thread of the library runs them, in
   any order. The operations, their keys, values and buffers must remain valid, and unused by the
   caller, until falafel_poll has returned them. Errors: those of falafel_execute; none of the
   operations is then started. */
FALAFEL_API falafel_status falafel_submit(falafel_store* store, falafel_operation* operations,
                                          size_t count);

/* Writes up to `capacity` submitted operations that have ended to `ended` and returns their number.
   Each is returned once, to one caller. If none has ended, waits for one for up to `timeout_ns`
   (0: does not wait). Returns 0 without waiting if no submitted operation is left. */
FALAFEL_API size_t falafel_poll(falafel_store* store, falafel_operation** ended, size_t capacity,
                                uint64_t timeout_ns);

/* A file descriptor for poll(), epoll and event loops: readable while falafel_poll has something to
   return. It belongs to the store; do not read or close it. -1 if the process has no more
   descriptors. */
FALAFEL_API int falafel_poll_descriptor(falafel_store* store);

/* Several servers */

/* One store on several servers: each key belongs to one of them (docs/library.md, "Several
   servers"). All clients must name the same servers, in any order, letter by letter. Without
   servers (`count` is 0), the option `etcd` says where the list is. Connects to all; retries a
   server that is away when one of its keys is used. Fails like falafel_open, also if no server
   answers. The functions below answer FALAFEL_DISCONNECTED while the key's server is away, and for
   keys that move while the list changes. */
FALAFEL_API falafel_status falafel_cluster_open(const char* const* servers, size_t count,
                                                const falafel_options* options,
                                                falafel_cluster** cluster, char* message,
                                                size_t message_bytes);

/* Requires that no other thread uses the cluster. Does nothing if `cluster` is null. */
FALAFEL_API void falafel_cluster_close(falafel_cluster* cluster);

/* See the functions for one store: falafel_get, falafel_set_expiring, ... falafel_cluster_execute
   waits for operations at all servers at the same time. Submitted operations run on a thread of the
   library for each server, so that a server that is away delays no others. To visit all keys, every
   server must answer, and the list must not change meanwhile; otherwise the result is
   FALAFEL_DISCONNECTED, and no key was visited. */
FALAFEL_API falafel_status falafel_cluster_get(falafel_cluster* cluster, const void* key,
                                               size_t key_bytes, void** value, size_t* value_bytes);
FALAFEL_API falafel_status falafel_cluster_set(falafel_cluster* cluster, const void* key,
                                               size_t key_bytes, const void* value,
                                               size_t value_bytes, uint64_t time_to_live_ns);
FALAFEL_API falafel_status falafel_cluster_compare_and_set(
    falafel_cluster* cluster, const void* key, size_t key_bytes, const void* expected,
    size_t expected_bytes, const void* value, size_t value_bytes, uint64_t time_to_live_ns);
FALAFEL_API falafel_status falafel_cluster_delete(falafel_cluster* cluster, const void* key,
                                                  size_t key_bytes);
FALAFEL_API falafel_status falafel_cluster_execute(falafel_cluster* cluster,
                                                   falafel_operation* operations, size_t count);
FALAFEL_API falafel_status falafel_cluster_submit(falafel_cluster* cluster,
                                                  falafel_operation* operations, size_t count);
FALAFEL_API size_t falafel_cluster_poll(falafel_cluster* cluster, falafel_operation** ended,
                                        size_t capacity, uint64_t timeout_ns);
FALAFEL_API int falafel_cluster_poll_descriptor(falafel_cluster* cluster);
FALAFEL_API falafel_status falafel_cluster_for_each_key(falafel_cluster* cluster,
                                                        falafel_visit visit, void* user_data);
FALAFEL_API falafel_status falafel_cluster_metrics(falafel_cluster* cluster, char** text);

#ifdef __cplusplus
}
#endif

/* NOLINTEND(modernize-*,readability-identifier-naming) */

#endif /* FALAFEL_FALAFEL_H */
