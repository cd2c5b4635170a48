// A client's links to all servers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "fabric/fabric.h"
#include "stores/memory_nodes/parallel_links.h"
#include "stores/replicated/link.h"
#include "stores/replicated/options.h"

namespace falafel::replicated {

using Task = stores::ParallelLinks<Link>::Task;

class Replicas {
 public:
  static fabric::Result<std::unique_ptr<Replicas>> create(
      fabric::Host& host, const std::vector<stores::Member>& members, const Options& options);

  std::size_t servers() const { return all_servers_.size(); }
  std::size_t majority() const;

  // Runs the task at all servers, and waits until a majority has answered (true), or none can any
  // more (false). The task goes on at the others.
  bool run_at_majority(const Task& task);
  bool run_at(std::size_t server, const Task& task);
  // Runs the task at all servers, without waiting.
  void run_later(const Task& task);

  // The number of times that this client has waited for servers.
  std::uint64_t round_trips() const { return round_trips_; }

 private:
  Replicas(fabric::Host& host, std::vector<std::unique_ptr<Link>> links, const Options& options);

  Options options_;
  std::vector<std::size_t> all_servers_;
  stores::ParallelLinks<Link> links_;
  std::uint64_t round_trips_ = 0;
};

}  // namespace falafel::replicated
