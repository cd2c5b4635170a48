#include "falafel/c_cluster_async.h"

#include <list>
#include <string_view>
#include <utility>
#include <vector>

#include "falafel/c_async.h"
#include "falafel/c_conversions.h"
#include "falafel/c_operations.h"

namespace falafel {

// Runs the operations of one server, a batch at a time. If a key has moved meanwhile, its operation
// runs at the other server.
class ClusterAsync::Runner final : public AsyncRunner {
 public:
  Runner(Cluster& cluster, std::uint32_t max_in_flight) : cluster_(cluster) {
    taken_.reserve(max_in_flight);
    keys_.reserve(max_in_flight);
  }

  void run(OperationSource& source) override {
    while (!source.is_empty()) {
      take_from(source);
      const falafel_status status = guarded([&] {
        run_batch(source);
        return FALAFEL_DISCONNECTED;  // of those that are left
      });
      for (falafel_operation*& operation : taken_) {
        if (operation != nullptr) finish(source, operation, status);
      }
    }
  }
  void notify() override {}  // run() looks at its source again after each batch

 private:
  void take_from(OperationSource& source) {
    taken_.clear();
    keys_.clear();
    while (taken_.size() < taken_.capacity()) {
      falafel_operation* operation = source.take();
      if (operation == nullptr) return;
      if (operation->key == nullptr) {
        finish(source, operation, FALAFEL_INVALID);
      } else {
        taken_.push_back(operation);
        keys_.push_back(view_of(operation->key, operation->key_bytes));
      }
    }
  }

  void run_batch(OperationSource& source) {
    cluster_.run_batch(keys_, [&](engine::Batch& batch, std::size_t index) {
      const falafel_status status = perform_in_batch(*taken_[index], batch);
      if (status == FALAFEL_DISCONNECTED) return false;
      finish(source, taken_[index], status);
      return true;
    });
  }

  // The caller may release it at once.
  static void finish(OperationSource& source, falafel_operation*& operation,
                     falafel_status status) {
    operation->status = status;
    source.finish(*std::exchange(operation, nullptr));
  }

  Cluster& cluster_;
  std::vector<falafel_operation*> taken_;  // null: it has ended
  std::vector<std::string_view> keys_;     // theirs
};

struct ClusterAsync::Lane {
  Lane(Cluster& cluster, std::uint32_t max_in_flight, EndedOperations& ended)
      : runner(cluster, max_in_flight), operations(runner, ended) {}

  Runner runner;
  AsyncOperations operations;  // ends first
};

ClusterAsync::ClusterAsync(Cluster& cluster, std::uint32_t max_in_flight)
    : cluster_(cluster), max_in_flight_(max_in_flight) {}

ClusterAsync::~ClusterAsync() = default;

ClusterAsync::Lane& ClusterAsync::lane_of(const falafel_operation& operation) {
  const std::string server = operation.key == nullptr
                                 ? std::string()
                                 : cluster_.server_of(view_of(operation.key, operation.key_bytes));
  auto& lane = lanes_[server];
  if (lane == nullptr) lane = std::make_unique<Lane>(cluster_, max_in_flight_, ended_);
  return *lane;
}

void ClusterAsync::submit(std::span<falafel_operation> operations) {
  std::map<Lane*, std::list<falafel_operation*>> lists;
  const std::lock_guard lock(mutex_);
  for (falafel_operation& operation : operations) {
    lists[&lane_of(operation)].push_back(&operation);
  }
  for (auto& [lane, list] : lists) lane->operations.start();
  // Nothing fails from here on.
  for (auto& [lane, list] : lists) lane->operations.submit(list);
}

}  // namespace falafel
