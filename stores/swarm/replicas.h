// A client's links to all nodes, and the choice of those to which an operation turns.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "fabric/fabric.h"
#include "stores/memory_nodes/parallel_links.h"
#include "stores/swarm/link.h"
#include "stores/swarm/options.h"

namespace falafel::swarm {

using Task = stores::ParallelLinks<Link>::Task;

class Replicas {
 public:
  // With Safeguards::own_index_node, the last member has the index, and is no replica.
  static fabric::Result<std::unique_ptr<Replicas>> create(
      fabric::Host& host, std::uint32_t writer, const std::vector<stores::Member>& members,
      const Options& options);

  std::size_t nodes() const;
  std::size_t majority() const;

  // Runs the task until a majority has answered (true), or none can any more (false). It turns to
  // `first` and those that follow it in the circle of nodes: to all, or to a majority and to
  // another one for each that fails (Options::contacts). Nodes that did not answer the last time
  // come last [reading of ours: the authors' code is told which nodes are dead]. The task goes on
  // at nodes that have not answered.
  bool run_at_majority(std::size_t first, const Task& task);
  // The number of nodes to which the last run_at_majority has turned.
  std::size_t asked() const { return asked_; }
  // At any member.
  bool run_at(std::size_t member, const Task& task);
  // Runs the task at the same nodes, without waiting.
  void run_later(std::size_t first, const Task& task);

  // The number of times that this client has waited for nodes.
  std::uint64_t round_trips() const { return round_trips_; }

 private:
  Replicas(fabric::Host& host, std::vector<std::unique_ptr<Link>> links, const Options& options);
  std::size_t asked_at_once() const;
  // Nodes that did not answer the last time come last.
  std::vector<std::size_t> order(std::size_t first) const;

  Options options_;
  stores::ParallelLinks<Link> links_;
  std::uint64_t round_trips_ = 0;
  std::size_t asked_ = 0;
};

}  // namespace falafel::swarm
