// A memory node of SWARM-KV, or the node of its index. It registers its memory, accepts clients,
// and has no other work: clients do everything by READ, WRITE and compare-and-swap.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "fabric/fabric.h"
#include "stores/swarm/options.h"

namespace falafel::swarm {

class Node {
 public:
  // `incarnation` is a number that no other node has, and that this one will not have when it
  // starts again. Whoever decides which nodes belong together chooses it, and tells it to the
  // clients. The node accepts in a daemon fiber until it is destroyed.
  static fabric::Result<std::unique_ptr<Node>> start(fabric::Host& host, std::uint64_t incarnation,
                                                     const Options& options);
  ~Node();
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;

  std::shared_ptr<fabric::MemoryBlock> memory() const;

 private:
  struct State;
  explicit Node(std::shared_ptr<State> state) : state_(std::move(state)) {}

  std::shared_ptr<State> state_;
};

}  // namespace falafel::swarm
