// A client's links to all nodes. A fiber for each of them runs the tasks of that node one after the
// other, so a node that is slow, or gone, delays nobody but the tasks that it has.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "fabric/fabric.h"
#include "stores/swarm/link.h"
#include "stores/swarm/options.h"

namespace falafel::swarm {

// The task at one node; returns whether the node answered. It may run after the operation has
// returned, so it owns what it uses.
using Task = std::function<bool(std::size_t node, Link& link)>;

class Replicas {
 public:
  // With Safeguards::own_index_node, the last member has the index, and is no replica.
  static fabric::Result<std::unique_ptr<Replicas>> create(fabric::Host& host, std::uint32_t writer,
                                                          const std::vector<Member>& members,
                                                          const Options& options);
  ~Replicas();
  Replicas(const Replicas&) = delete;
  Replicas& operator=(const Replicas&) = delete;

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
  struct State;
  explicit Replicas(std::shared_ptr<State> state) : state_(std::move(state)) {}

  std::shared_ptr<State> state_;
  std::uint64_t round_trips_ = 0;
  std::size_t asked_ = 0;
};

}  // namespace falafel::swarm
