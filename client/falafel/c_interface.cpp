// Implements falafel.h with Store: converts types, and stops exceptions.
#include <algorithm>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "falafel/c_async.h"
#include "falafel/c_buffer.h"
#include "falafel/c_conversions.h"
#include "falafel/c_ended.h"
#include "falafel/c_key_visits.h"
#include "falafel/c_operations.h"
#include "falafel/c_options.h"
#include "falafel/c_status.h"
#include "falafel/falafel.h"
#include "falafel/metrics.h"
#include "falafel/store.h"
#include "falafel/turns.h"

struct falafel_store {
  falafel_store(std::unique_ptr<falafel::Store> opened, std::uint32_t max_in_flight)
      : store(std::move(opened)), runner(*store, turns, max_in_flight) {}

  std::unique_ptr<falafel::Store> store;
  falafel::Turns turns;  // held by the thread that uses the store
  falafel::OperationRunner runner;
  falafel::EndedOperations ended;
  falafel::AsyncOperations async{runner, ended};
};

namespace {

using falafel::condition_of;
using falafel::copy_text;
using falafel::copy_value;
using falafel::guarded;
using falafel::kept_unless_given;
using falafel::status_of;
using falafel::status_of_reading;
using falafel::view_of;
using falafel::write_message;
using falafel::engine::Answer;

}  // namespace

const char* falafel_version(void) { return FALAFEL_VERSION; }

// Options

falafel_options* falafel_options_create(void) { return new (std::nothrow) falafel_options; }

void falafel_options_destroy(falafel_options* options) { delete options; }

falafel_status falafel_options_set(falafel_options* options, const char* name, const char* value) {
  if (options == nullptr || name == nullptr || value == nullptr) return FALAFEL_INVALID;
  return guarded([&] {
    std::string mistake = falafel::set_option(options->values, name, value);
    if (mistake.empty()) return FALAFEL_OK;
    if (options->first_mistake.empty()) options->first_mistake = std::move(mistake);
    return FALAFEL_INVALID;
  });
}

// Opening and closing

namespace {

falafel_status open(const char* server, const falafel::ClusterOptions& options,
                    falafel_store** store, std::string& detail) {
  if (!options.etcd.empty()) {
    detail = "option 'etcd': one server has no list of servers; use falafel_cluster_open";
    return FALAFEL_INVALID;
  }
  falafel::StoreOptions values = options.store;
  values.server = server;
  auto opened = falafel::Store::open(values);
  if (!opened) {
    detail = std::move(opened.error().detail);
    return status_of(opened.error().problem);
  }
  *store = new falafel_store(std::move(*opened), values.max_operations_in_flight);
  return FALAFEL_OK;
}

}  // namespace

falafel_status falafel_open(const char* server, const falafel_options* options,
                            falafel_store** store, char* message, size_t message_bytes) {
  if (store == nullptr) return FALAFEL_INVALID;
  *store = nullptr;
  if (server == nullptr) {
    write_message("the server name is null", message, message_bytes);
    return FALAFEL_INVALID;
  }
  return falafel::open_with(options, message, message_bytes,
                            [&](const falafel::ClusterOptions& values, std::string& detail) {
                              return open(server, values, store, detail);
                            });
}

void falafel_close(falafel_store* store) { delete store; }

int falafel_is_connected(falafel_store* store) {
  if (store == nullptr) return 0;
  bool is_connected = false;
  guarded([&] {
    const std::lock_guard turn(store->turns);
    is_connected = store->store->is_connected();
    return FALAFEL_OK;
  });
  return is_connected ? 1 : 0;
}

uint64_t falafel_server_incarnation(falafel_store* store) {
  return store == nullptr ? 0 : store->store->server_incarnation();
}

falafel_status falafel_metrics(falafel_store* const* stores, size_t count, char** text) {
  if (text == nullptr || (stores == nullptr && count > 0)) return FALAFEL_INVALID;
  const std::span all(stores, count);
  if (std::ranges::find(all, nullptr) != all.end()) return FALAFEL_INVALID;
  return guarded([&] {
    std::vector<falafel::StoreMetrics> metrics;
    for (const falafel_store* const store : all) metrics.push_back(store->store->metrics());
    return copy_text(falafel::to_prometheus(metrics), text);
  });
}

// One operation at a time

falafel_status falafel_get(falafel_store* store, const void* key, size_t key_bytes, void** value,
                           size_t* value_bytes) {
  if (store == nullptr || key == nullptr || value == nullptr || value_bytes == nullptr) {
    return FALAFEL_INVALID;
  }
  return guarded([&] {
    const std::lock_guard turn(store->turns);
    falafel_status copied = FALAFEL_OK;
    const auto result = store->store->get(
        view_of(key, key_bytes),
        [&](std::span<const std::byte> found) { copied = copy_value(found, value, value_bytes); });
    return result.answer == Answer::found ? copied : status_of_reading(result.answer);
  });
}

falafel_status falafel_set(falafel_store* store, const void* key, size_t key_bytes,
                           const void* value, size_t value_bytes) {
  return falafel_set_expiring(store, key, key_bytes, value, value_bytes, 0);
}

falafel_status falafel_set_expiring(falafel_store* store, const void* key, size_t key_bytes,
                                    const void* value, size_t value_bytes,
                                    uint64_t time_to_live_ns) {
  if (store == nullptr || key == nullptr || (value == nullptr && value_bytes > 0)) {
    return FALAFEL_INVALID;
  }
  return guarded([&] {
    const std::lock_guard turn(store->turns);
    return status_of(
        store->store->set(view_of(key, key_bytes), view_of(value, value_bytes), time_to_live_ns));
  });
}

falafel_status falafel_compare_and_set(falafel_store* store, const void* key, size_t key_bytes,
                                       const void* expected, size_t expected_bytes,
                                       const void* value, size_t value_bytes,
                                       uint64_t time_to_live_ns) {
  if (store == nullptr || key == nullptr || (value == nullptr && value_bytes > 0) ||
      (expected == nullptr && expected_bytes > 0)) {
    return FALAFEL_INVALID;
  }
  return guarded([&] {
    const std::lock_guard turn(store->turns);
    return status_of(store->store->compare_and_set(
        view_of(key, key_bytes), condition_of(expected, expected_bytes),
        view_of(value, value_bytes), kept_unless_given(time_to_live_ns)));
  });
}

falafel_status falafel_delete(falafel_store* store, const void* key, size_t key_bytes) {
  if (store == nullptr || key == nullptr) return FALAFEL_INVALID;
  return guarded([&] {
    const std::lock_guard turn(store->turns);
    return status_of_reading(store->store->remove(view_of(key, key_bytes)).answer);
  });
}

falafel_status falafel_for_each_key(falafel_store* store, falafel_visit visit, void* user_data) {
  if (store == nullptr || visit == nullptr) return FALAFEL_INVALID;
  return falafel::visit_found_keys(
      [&](const auto& found) {
        const std::lock_guard turn(store->turns);
        return store->store->for_each_key(found);
      },
      visit, user_data);
}

// Memory for values

falafel_status falafel_buffer_create(falafel_store* store, size_t bytes, falafel_buffer** buffer) {
  if (buffer == nullptr) return FALAFEL_INVALID;
  *buffer = nullptr;
  if (store == nullptr || bytes == 0) return FALAFEL_INVALID;
  return guarded([&] {
    const std::lock_guard turn(store->turns);
    auto memory = store->store->allocate_buffer(bytes);
    if (!memory) return FALAFEL_OUT_OF_MEMORY;
    *buffer = new falafel_buffer{.store = store->store.get(), .memory = std::move(*memory)};
    return FALAFEL_OK;
  });
}

void falafel_buffer_destroy(falafel_buffer* buffer) { delete buffer; }

falafel_status falafel_get_into(falafel_store* store, const void* key, size_t key_bytes,
                                falafel_part* part, size_t* value_bytes) {
  if (store == nullptr || key == nullptr || part == nullptr || value_bytes == nullptr) {
    return FALAFEL_INVALID;
  }
  const auto buffer = falafel::buffer_of(*part, store->store.get());
  if (!buffer) return FALAFEL_INVALID;
  return guarded([&] {
    const std::lock_guard turn(store->turns);
    const auto result = store->store->get(view_of(key, key_bytes), *buffer);
    return falafel::deliver_into(result, *buffer, *part, *value_bytes);
  });
}

// Many operations in flight

falafel_status falafel_execute(falafel_store* store, falafel_operation* operations, size_t count) {
  if (store == nullptr || (operations == nullptr && count > 0)) return FALAFEL_INVALID;
  return guarded([&] {
    store->runner.run_batch({operations, count});
    return FALAFEL_OK;
  });
}

falafel_status falafel_submit(falafel_store* store, falafel_operation* operations, size_t count) {
  if (store == nullptr || (operations == nullptr && count > 0)) return FALAFEL_INVALID;
  return guarded([&] {
    std::list<falafel_operation*> submitted;
    for (falafel_operation& operation : std::span(operations, count)) {
      submitted.push_back(&operation);
    }
    store->async.start();
    store->async.submit(submitted);
    return FALAFEL_OK;
  });
}

size_t falafel_poll(falafel_store* store, falafel_operation** ended, size_t capacity,
                    uint64_t timeout_ns) {
  if (store == nullptr || ended == nullptr || capacity == 0) return 0;
  return store->ended.poll({ended, capacity}, timeout_ns);
}

int falafel_poll_descriptor(falafel_store* store) {
  return store == nullptr ? -1 : store->ended.descriptor();
}
