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
   is empty. */
#ifndef FALAFEL_FALAFEL_H
#define FALAFEL_FALAFEL_H

/* This is C: NOLINTBEGIN(modernize-*,readability-identifier-naming) */

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct falafel_store falafel_store; /* opaque */

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
  FALAFEL_OUT_OF_MEMORY = 8, /* this process has no memory, for get and delete: to read data */
  FALAFEL_TABLE_FULL = 9,    /* set: no slot for a new key; delete keys */
  FALAFEL_STORE_FULL = 10,   /* set: no memory for the value; delete or overwrite keys */
  FALAFEL_VALUE_TOO_LARGE = 11, /* set: key and value do not fit into a region of the server, or
                                   one request of this machine's network device */
  FALAFEL_CORRUPTED =
      12, /* get: the stored value fails its checksum; set or delete of the key repairs it */
  FALAFEL_UNKNOWN_OUTCOME =
      13, /* set, delete: the connection broke; the change may have happened, or may still happen */
  FALAFEL_DISCONNECTED = 14, /* the server is away; nothing was changed */
  FALAFEL_TIMED_OUT = 15     /* the server did not answer in time; nothing was changed */
} falafel_status;

/* Describes a falafel_status in English; any other number is described as unknown. The library owns
   the text, which is never null. */
const char* falafel_status_text(int status);

/* Connects to the server of this name. `directory` contains the servers' sockets; null selects the
   default ($FALAFEL_DIRECTORY, else $XDG_RUNTIME_DIR/falafel, else /tmp/falafel-<uid>). Sets
   `*store` to the store, or to null after an error. After an error, it also writes a message with
   the problem and the remedy to `message`, which may be null. The message is truncated to
   `message_bytes` and always ends with a zero byte. */
falafel_status falafel_open(const char* server, const char* directory, falafel_store** store,
                            char* message, size_t message_bytes);

/* Requires that no other thread uses the store. Does nothing if `store` is null. */
void falafel_close(falafel_store* store);

/* Sets `*value` to memory that the caller must release with free(), and `*value_bytes` to its
   length. An empty value is not null either. Both are unchanged unless the result is FALAFEL_OK. */
falafel_status falafel_get(falafel_store* store, const void* key, size_t key_bytes, void** value,
                           size_t* value_bytes);

/* `value` may be null if `value_bytes` is 0. The store keeps no reference to key or value. */
falafel_status falafel_set(falafel_store* store, const void* key, size_t key_bytes,
                           const void* value, size_t value_bytes);

falafel_status falafel_delete(falafel_store* store, const void* key, size_t key_bytes);

/* Returns 1 if the connection was intact at its last use, 0 otherwise. */
int falafel_is_connected(falafel_store* store);

/* Identifies the server run to which the store was last connected. If the number changes, the
   server has restarted and was empty. */
uint64_t falafel_server_incarnation(falafel_store* store);

#ifdef __cplusplus
}
#endif

/* NOLINTEND(modernize-*,readability-identifier-naming) */

#endif /* FALAFEL_FALAFEL_H */
