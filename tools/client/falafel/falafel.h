/* The store, for C and for whatever can call C. falafel/store.h has the same for C++.

     falafel_store *store;
     char message[256];
     if (falafel_open("falafel", NULL, &store, message, sizeof message) != FALAFEL_OK) ...
     falafel_set(store, "greeting", 8, "hello", 5);
     void *value; size_t value_bytes;
     if (falafel_get(store, "greeting", 8, &value, &value_bytes) == FALAFEL_OK) free(value);
     falafel_close(store);

   All functions may be called from any thread, and one store by several at the same time. A store must
   not be used after fork() in the child. Operations on one key are linearizable. An operation that finds
   the connection broken connects anew if the server is back, which then is empty. */
#ifndef FALAFEL_FALAFEL_H
#define FALAFEL_FALAFEL_H

/* This is C: NOLINTBEGIN(modernize-*,readability-identifier-naming) */

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct falafel_store falafel_store; /* opaque */

/* The numbers stay as they are. */
typedef enum falafel_status {
  FALAFEL_OK = 0,
  FALAFEL_NOT_FOUND = 1,     /* get, delete: the key is not in the store */
  FALAFEL_INVALID = 2,       /* an argument is null; the key is empty or over 65,536 bytes; open: an
                                  option is not what it may be */
  FALAFEL_NO_SERVER = 3,     /* open: nobody serves under this name */
  FALAFEL_NO_PERMISSION = 4, /* open: this user may not connect */
  FALAFEL_OTHER_VERSION = 5, /* open: the server speaks another version of the protocol */
  FALAFEL_REFUSED = 6,       /* open: the server takes no further client */
  FALAFEL_UNREACHABLE = 7,   /* open: no answer in time */
  FALAFEL_OUT_OF_MEMORY = 8, /* of this process; get, delete: for what had to be read */
  FALAFEL_TABLE_FULL = 9,    /* set: no slot for a new key; delete keys */
  FALAFEL_STORE_FULL = 10,   /* set: no memory for the value; delete or overwrite keys */
  FALAFEL_VALUE_TOO_LARGE = 11, /* set: key and value do not fit into a region of the server, or
                                   one request of this machine's network device */
  FALAFEL_CORRUPTED =
      12, /* get: what is stored fails its checksum; setting or deleting the key repairs it */
  FALAFEL_UNKNOWN_OUTCOME =
      13, /* set, delete: the connection broke meanwhile; done, or not, or soon */
  FALAFEL_DISCONNECTED = 14, /* the server is away; nothing was changed */
  FALAFEL_TIMED_OUT = 15     /* the server did not answer in time; nothing was changed */
} falafel_status;

/* A description of a falafel_status, in English; of any other number, that it is none. Of the library;
   never null. */
const char* falafel_status_text(int status);

/* Connects to the server of this name. `directory`: where servers leave their sockets; null: the default
   ($FALAFEL_DIRECTORY, else $XDG_RUNTIME_DIR/falafel, else /tmp/falafel-<uid>). `*store` is set to the
   store, or to null if there was an error; a message of what is wrong and what to do is then written to
   `message` (cut to `message_bytes`, with a zero at its end), which may be null. */
falafel_status falafel_open(const char* server, const char* directory, falafel_store** store,
                            char* message, size_t message_bytes);

/* Null is no store, and nothing is done. Nobody else uses the store. */
void falafel_close(falafel_store* store);

/* `*value` is set to memory that the caller gives back with free(), and `*value_bytes` to its length; a
   value of no bytes is not null either. Both are left alone unless FALAFEL_OK. */
falafel_status falafel_get(falafel_store* store, const void* key, size_t key_bytes, void** value,
                           size_t* value_bytes);

/* `value` may be null if `value_bytes` is 0. Neither is kept. */
falafel_status falafel_set(falafel_store* store, const void* key, size_t key_bytes,
                           const void* value, size_t value_bytes);

falafel_status falafel_delete(falafel_store* store, const void* key, size_t key_bytes);

/* 1 if the connection stood when it was last used, else 0. */
int falafel_is_connected(falafel_store* store);

/* A number of the server's life that the store was last connected to: when it changes, the server has
   been started anew, and was empty. */
uint64_t falafel_server_incarnation(falafel_store* store);

#ifdef __cplusplus
}
#endif

/* NOLINTEND(modernize-*,readability-identifier-naming) */

#endif /* FALAFEL_FALAFEL_H */
