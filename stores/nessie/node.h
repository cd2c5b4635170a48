// A node: an index table and a data table in registered memory. In NessieCD, nodes serve by their
// devices alone, and the processor only accepts connections. In NessieSD and NessieHY, a node has
// workers (service.h). The clients of a node are on its host (client.h).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "fabric/fabric.h"
#include "stores/nessie/data_table.h"
#include "stores/nessie/entry_cache.h"
#include "stores/nessie/layout.h"
#include "stores/nessie/options.h"
#include "stores/nessie/service.h"

namespace falafel::nessie {

// The message that a node sends to a client that connects.
struct Hello {
  std::uint64_t node = 0;
  std::uint32_t index_key = 0;
  std::uint32_t data_key = 0;
  // The place to which this client sends its requests, for NessieSD and NessieHY.
  std::uint32_t request_key = 0;
  std::uint32_t request_slot = 0;
};
static_assert(sizeof(Hello) == 24);

// A node's memory and books, for checkers. They outlive the node.
struct NodeInspection {
  NodeLayout layout;
  std::shared_ptr<fabric::MemoryBlock> memory;
  std::shared_ptr<const std::vector<EntryBook>> books;
  std::shared_ptr<const ServiceStatistics> service;  // null in NessieCD
};

class Node {
 public:
  // `number` is its place in the list of `nodes` that clients are given. Errors: invalid_argument
  // (an option out of range), out_of_memory, address_in_use.
  static fabric::Result<std::unique_ptr<Node>> start(fabric::Host& host, std::uint64_t number,
                                                     std::uint64_t nodes, const Options& options);
  // Stops without waiting. The clients of the node are destroyed before.
  ~Node();
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;

  std::uint64_t number() const;
  DataTable& data_table();
  EntryCache& cache();  // of all clients of the node
  // NessieHY, whose ITEs the processor changes: an ITE of this node, without its device.
  std::uint64_t load_index(std::uint64_t index) const;
  Service& service();  // of NessieSD and NessieHY
  NodeInspection inspect() const;

 private:
  struct State;
  explicit Node(std::shared_ptr<State> state) : state_(std::move(state)) {}

  std::shared_ptr<State> state_;
};

}  // namespace falafel::nessie
