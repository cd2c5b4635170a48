// The asynchronous calls of the C interface for several servers: a thread for each server that has
// any operations. So a server that is away delays only the operations on its own keys.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>

#include "falafel/c_ended.h"
#include "falafel/cluster.h"
#include "falafel/falafel.h"

namespace falafel {

// Thread-safe.
class ClusterAsync {
 public:
  // Each server has up to `max_in_flight` operations under way at a time.
  ClusterAsync(Cluster& cluster, std::uint32_t max_in_flight);
  ~ClusterAsync();  // waits until all operations have ended
  ClusterAsync(const ClusterAsync&) = delete;
  ClusterAsync& operator=(const ClusterAsync&) = delete;

  // See falafel.h. submit() throws std::bad_alloc or std::system_error if it starts none.
  void submit(std::span<falafel_operation> operations);
  std::size_t poll(std::span<falafel_operation*> ended, std::uint64_t timeout_ns) {
    return ended_.poll(ended, timeout_ns);
  }
  int descriptor() { return ended_.descriptor(); }

 private:
  class Runner;
  struct Lane;

  Lane& lane_of(const falafel_operation& operation);

  Cluster& cluster_;
  const std::uint32_t max_in_flight_;
  EndedOperations ended_;
  std::mutex mutex_;  // protects lanes_
  // By the name of the server.
  std::map<std::string, std::unique_ptr<Lane>, std::less<>> lanes_;
};

}  // namespace falafel
