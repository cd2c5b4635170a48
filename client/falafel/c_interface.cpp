// Implements falafel.h with Store: converts types and statuses, and stops exceptions.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <string_view>

#include "falafel/falafel.h"
#include "falafel/store.h"

struct falafel_store {
  std::unique_ptr<falafel::Store> store;
};

namespace {

using falafel::OpenProblem;
using falafel::engine::Answer;

falafel_status status_of(Answer answer) {
  switch (answer) {
    case Answer::found:
    case Answer::stored:
    case Answer::deleted: return FALAFEL_OK;
    case Answer::not_found: return FALAFEL_NOT_FOUND;
    case Answer::invalid_key: return FALAFEL_INVALID;
    case Answer::value_too_large: return FALAFEL_VALUE_TOO_LARGE;
    case Answer::table_full: return FALAFEL_TABLE_FULL;
    case Answer::out_of_memory: return FALAFEL_STORE_FULL;
    case Answer::corrupted: return FALAFEL_CORRUPTED;
    case Answer::unknown_outcome: return FALAFEL_UNKNOWN_OUTCOME;
    case Answer::disconnected: return FALAFEL_DISCONNECTED;
    case Answer::timed_out: return FALAFEL_TIMED_OUT;
  }
  return FALAFEL_INVALID;
}

// For SET, the store is out of memory; for other operations, this process is.
falafel_status status_of_reading(Answer answer) {
  return answer == Answer::out_of_memory ? FALAFEL_OUT_OF_MEMORY : status_of(answer);
}

falafel_status status_of(OpenProblem problem) {
  switch (problem) {
    case OpenProblem::invalid_options: return FALAFEL_INVALID;
    case OpenProblem::no_server: return FALAFEL_NO_SERVER;
    case OpenProblem::no_permission: return FALAFEL_NO_PERMISSION;
    case OpenProblem::other_version: return FALAFEL_OTHER_VERSION;
    case OpenProblem::refused: return FALAFEL_REFUSED;
    case OpenProblem::out_of_memory: return FALAFEL_OUT_OF_MEMORY;
    case OpenProblem::unreachable: return FALAFEL_UNREACHABLE;
  }
  return FALAFEL_INVALID;
}

void write_message(std::string_view text, char* message, size_t message_bytes) {
  if (message == nullptr || message_bytes == 0) return;
  const size_t length = std::min(text.size(), message_bytes - 1);
  std::memcpy(message, text.data(), length);
  message[length] = '\0';
}

std::string_view view_of(const void* bytes, size_t length) {
  return {static_cast<const char*>(bytes), length};
}

falafel_status copy_value(const std::vector<std::byte>& value, void** copy, size_t* copy_bytes) {
  void* const memory = std::malloc(std::max<size_t>(value.size(), 1));
  if (memory == nullptr) return FALAFEL_OUT_OF_MEMORY;
  std::copy_n(value.data(), value.size(), static_cast<std::byte*>(memory));
  *copy = memory;
  *copy_bytes = value.size();
  return FALAFEL_OK;
}

// Converts a failed memory allocation to a status.
template <typename Call>
falafel_status guarded(const Call& call) {
  try {
    return call();
  } catch (const std::bad_alloc&) {
    return FALAFEL_OUT_OF_MEMORY;
  }
}

}  // namespace

const char* falafel_status_text(int status) {
  switch (status) {
    case FALAFEL_OK: return "ok";
    case FALAFEL_NOT_FOUND: return "not found";
    case FALAFEL_INVALID: return "invalid argument";
    case FALAFEL_NO_SERVER: return "no server uses this name";
    case FALAFEL_NO_PERMISSION: return "no permission";
    case FALAFEL_OTHER_VERSION: return "the server speaks a different protocol version";
    case FALAFEL_REFUSED: return "the server accepts no more clients";
    case FALAFEL_UNREACHABLE: return "the server does not answer";
    case FALAFEL_OUT_OF_MEMORY: return "this process is out of memory";
    case FALAFEL_TABLE_FULL: return "the store's table is full";
    case FALAFEL_STORE_FULL: return "the store's memory is full";
    case FALAFEL_VALUE_TOO_LARGE: return "the value is too large";
    case FALAFEL_CORRUPTED: return "corrupted";
    case FALAFEL_UNKNOWN_OUTCOME: return "unknown outcome";
    case FALAFEL_DISCONNECTED: return "disconnected";
    case FALAFEL_TIMED_OUT: return "the server did not answer in time";
  }
  return "unknown status";
}

falafel_status falafel_open(const char* server, const char* directory, falafel_store** store,
                            char* message, size_t message_bytes) {
  if (store == nullptr) return FALAFEL_INVALID;
  *store = nullptr;
  if (server == nullptr) {
    write_message("the server name is null", message, message_bytes);
    return FALAFEL_INVALID;
  }
  return guarded([&] {
    falafel::StoreOptions options;
    options.server = server;
    if (directory != nullptr) options.fabric.directory = directory;
    auto opened = falafel::Store::open(options);
    if (!opened) {
      write_message(opened.error().detail, message, message_bytes);
      return status_of(opened.error().problem);
    }
    *store = new falafel_store{std::move(*opened)};
    return FALAFEL_OK;
  });
}

void falafel_close(falafel_store* store) { delete store; }

falafel_status falafel_get(falafel_store* store, const void* key, size_t key_bytes, void** value,
                           size_t* value_bytes) {
  if (store == nullptr || key == nullptr || value == nullptr || value_bytes == nullptr) {
    return FALAFEL_INVALID;
  }
  return guarded([&] {
    const auto result = store->store->get(view_of(key, key_bytes));
    if (result.answer != Answer::found) return status_of_reading(result.answer);
    return copy_value(result.value, value, value_bytes);
  });
}

falafel_status falafel_set(falafel_store* store, const void* key, size_t key_bytes,
                           const void* value, size_t value_bytes) {
  if (store == nullptr || key == nullptr || (value == nullptr && value_bytes > 0)) {
    return FALAFEL_INVALID;
  }
  return guarded([&] {
    return status_of(
        store->store->set(view_of(key, key_bytes), view_of(value, value_bytes)).answer);
  });
}

falafel_status falafel_delete(falafel_store* store, const void* key, size_t key_bytes) {
  if (store == nullptr || key == nullptr) return FALAFEL_INVALID;
  return guarded(
      [&] { return status_of_reading(store->store->remove(view_of(key, key_bytes)).answer); });
}

int falafel_is_connected(falafel_store* store) {
  return store != nullptr && store->store->is_connected() ? 1 : 0;
}

uint64_t falafel_server_incarnation(falafel_store* store) {
  return store == nullptr ? 0 : store->store->server_incarnation();
}
