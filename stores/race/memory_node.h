// The memory node of RACE hashing (Zuo, Sun, Yang, Zhang, Hua: One-sided RDMA-Conscious Extendible
// Hashing for Disaggregated Memory, USENIX ATC 2021). It registers its memory, accepts connections
// and hands out memory; all else is done by clients through its device.
#pragma once

#include <cstdint>
#include <map>
#include <memory>

#include "fabric/fabric.h"
#include "stores/race/layout.h"
#include "stores/race/options.h"

namespace falafel::race {

struct NodeStatistics {
  std::uint64_t clients_connected = 0;  // currently
  std::uint64_t allocations = 0;
  std::uint64_t refused_allocations = 0;  // because the heap was full
  std::uint64_t busy_ns = 0;              // from a completion until it was handled
};

// The node's memory and books, for checkers.
struct NodeInspection {
  Geometry geometry;
  std::uint64_t hash_seed = 0;
  std::uint32_t fingerprint_bits = 0;
  Bytes memory;
  // The sizes of what was handed out, the first subtables included, by offset in the memory.
  std::map<std::uint64_t, std::uint64_t> allocated;
  NodeStatistics statistics{};
};

class NodeState;

class MemoryNode {
 public:
  // The node runs as daemon fibers of the host. Errors: invalid_argument (an option out of range),
  // out_of_memory, address_in_use.
  static fabric::Result<std::unique_ptr<MemoryNode>> start(fabric::Host& host,
                                                           const Options& options);
  // Stops without waiting.
  ~MemoryNode();
  MemoryNode(const MemoryNode&) = delete;
  MemoryNode& operator=(const MemoryNode&) = delete;

  NodeInspection inspect() const;
  NodeStatistics statistics() const;
  const Geometry& geometry() const;
  std::shared_ptr<fabric::MemoryBlock> memory() const;

 private:
  explicit MemoryNode(std::shared_ptr<NodeState> state);

  std::shared_ptr<NodeState> state_;
};

}  // namespace falafel::race
