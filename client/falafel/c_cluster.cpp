// Implements the functions of falafel.h for several servers with Cluster.
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "falafel/c_cluster_async.h"
#include "falafel/c_conversions.h"
#include "falafel/c_key_visits.h"
#include "falafel/c_operations.h"
#include "falafel/c_options.h"
#include "falafel/c_status.h"
#include "falafel/cluster.h"
#include "falafel/falafel.h"
#include "falafel/metrics.h"

struct falafel_cluster {
  falafel_cluster(std::unique_ptr<falafel::Cluster> opened, std::uint32_t max_in_flight)
      : cluster(std::move(opened)), async(*cluster, max_in_flight) {}

  std::unique_ptr<falafel::Cluster> cluster;
  falafel::ClusterAsync async;
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

falafel_status open(std::span<const char* const> servers, falafel::ClusterOptions options,
                    falafel_cluster** cluster, std::string& detail) {
  for (const char* const server : servers) {
    if (server == nullptr) {
      detail = "the name of a server is null";
      return FALAFEL_INVALID;
    }
    options.servers.emplace_back(server);
  }
  auto opened = falafel::Cluster::open(options);
  if (!opened) {
    detail = std::move(opened.error().detail);
    return status_of(opened.error().problem);
  }
  *cluster = new falafel_cluster(std::move(*opened), options.store.max_operations_in_flight);
  return FALAFEL_OK;
}

// Returns the operations with a key. The others get their result here.
std::vector<falafel_operation*> prepare(std::span<falafel_operation> operations) {
  std::vector<falafel_operation*> prepared;
  prepared.reserve(operations.size());
  for (falafel_operation& operation : operations) {
    operation.status = operation.key == nullptr ? FALAFEL_INVALID : FALAFEL_DISCONNECTED;
    if (operation.key != nullptr) prepared.push_back(&operation);
  }
  return prepared;
}

// Without memory for the batch of a server, the operations there end with that status.
void run(falafel::Cluster& cluster, std::span<const std::string_view> keys,
         std::span<falafel_operation* const> operations) {
  const falafel_status status = guarded([&] {
    cluster.run_batch(keys, [&](falafel::engine::Batch& batch, size_t index) {
      falafel_operation& operation = *operations[index];
      operation.status = falafel::perform_in_batch(operation, batch);
      return operation.status != FALAFEL_DISCONNECTED;
    });
    return FALAFEL_OK;
  });
  if (status == FALAFEL_OK) return;
  for (falafel_operation* const operation : operations) {
    if (operation->status == FALAFEL_DISCONNECTED) operation->status = status;
  }
}

}  // namespace

falafel_status falafel_cluster_open(const char* const* servers, size_t count,
                                    const falafel_options* options, falafel_cluster** cluster,
                                    char* message, size_t message_bytes) {
  if (cluster == nullptr) return FALAFEL_INVALID;
  *cluster = nullptr;
  if (servers == nullptr && count > 0) {
    write_message("the list of servers is null", message, message_bytes);
    return FALAFEL_INVALID;
  }
  return falafel::open_with(options, message, message_bytes,
                            [&](const falafel::ClusterOptions& values, std::string& detail) {
                              return open({servers, count}, values, cluster, detail);
                            });
}

void falafel_cluster_close(falafel_cluster* cluster) { delete cluster; }

falafel_status falafel_cluster_get(falafel_cluster* cluster, const void* key, size_t key_bytes,
                                   void** value, size_t* value_bytes) {
  if (cluster == nullptr || key == nullptr || value == nullptr || value_bytes == nullptr) {
    return FALAFEL_INVALID;
  }
  return guarded([&] {
    const auto result = cluster->cluster->get(view_of(key, key_bytes));
    return result.answer == Answer::found ? copy_value(result.value, value, value_bytes)
                                          : status_of_reading(result.answer);
  });
}

falafel_status falafel_cluster_set(falafel_cluster* cluster, const void* key, size_t key_bytes,
                                   const void* value, size_t value_bytes,
                                   uint64_t time_to_live_ns) {
  if (cluster == nullptr || key == nullptr || (value == nullptr && value_bytes > 0)) {
    return FALAFEL_INVALID;
  }
  return guarded([&] {
    const auto result = cluster->cluster->set(view_of(key, key_bytes), view_of(value, value_bytes),
                                              time_to_live_ns);
    return status_of(result);
  });
}

falafel_status falafel_cluster_compare_and_set(falafel_cluster* cluster, const void* key,
                                               size_t key_bytes, const void* expected,
                                               size_t expected_bytes, const void* value,
                                               size_t value_bytes, uint64_t time_to_live_ns) {
  if (cluster == nullptr || key == nullptr || (value == nullptr && value_bytes > 0) ||
      (expected == nullptr && expected_bytes > 0)) {
    return FALAFEL_INVALID;
  }
  return guarded([&] {
    return status_of(cluster->cluster->compare_and_set(
        view_of(key, key_bytes), condition_of(expected, expected_bytes),
        view_of(value, value_bytes), kept_unless_given(time_to_live_ns)));
  });
}

falafel_status falafel_cluster_delete(falafel_cluster* cluster, const void* key, size_t key_bytes) {
  if (cluster == nullptr || key == nullptr) return FALAFEL_INVALID;
  return guarded(
      [&] { return status_of_reading(cluster->cluster->remove(view_of(key, key_bytes)).answer); });
}

falafel_status falafel_cluster_execute(falafel_cluster* cluster, falafel_operation* operations,
                                       size_t count) {
  if (cluster == nullptr || (operations == nullptr && count > 0)) return FALAFEL_INVALID;
  return guarded([&] {
    const std::vector<falafel_operation*> prepared = prepare({operations, count});
    std::vector<std::string_view> keys;
    keys.reserve(prepared.size());
    for (const falafel_operation* const operation : prepared) {
      keys.push_back(view_of(operation->key, operation->key_bytes));
    }
    run(*cluster->cluster, keys, prepared);
    return FALAFEL_OK;
  });
}

falafel_status falafel_cluster_submit(falafel_cluster* cluster, falafel_operation* operations,
                                      size_t count) {
  if (cluster == nullptr || (operations == nullptr && count > 0)) return FALAFEL_INVALID;
  return guarded([&] {
    cluster->async.submit({operations, count});
    return FALAFEL_OK;
  });
}

size_t falafel_cluster_poll(falafel_cluster* cluster, falafel_operation** ended, size_t capacity,
                            uint64_t timeout_ns) {
  if (cluster == nullptr || ended == nullptr || capacity == 0) return 0;
  return cluster->async.poll({ended, capacity}, timeout_ns);
}

int falafel_cluster_poll_descriptor(falafel_cluster* cluster) {
  return cluster == nullptr ? -1 : cluster->async.descriptor();
}

falafel_status falafel_cluster_for_each_key(falafel_cluster* cluster, falafel_visit visit,
                                            void* user_data) {
  if (cluster == nullptr || visit == nullptr) return FALAFEL_INVALID;
  return falafel::visit_found_keys(
      [&](const auto& found) { return cluster->cluster->for_each_key(found); }, visit, user_data);
}

falafel_status falafel_cluster_metrics(falafel_cluster* cluster, char** text) {
  if (cluster == nullptr || text == nullptr) return FALAFEL_INVALID;
  return guarded(
      [&] { return copy_text(falafel::to_prometheus(cluster->cluster->metrics()), text); });
}
