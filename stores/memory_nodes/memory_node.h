// A node that only lends its memory. It registers it, accepts clients, and has no other work:
// clients do everything by READ, WRITE and compare-and-swap.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "fabric/fabric.h"

namespace falafel::stores {

// The message of a node to a client that connects.
struct MemoryNodeHello {
  std::uint64_t incarnation = 0;
  std::uint64_t remote_key = 0;
};
static_assert(sizeof(MemoryNodeHello) <= fabric::max_private_data_bytes);

struct MemoryNodeOptions {
  std::uint16_t service = 0;
  std::uint64_t memory_bytes = 0;
  std::uint64_t acknowledge_timeout_ns = 0;
  std::uint32_t retry_count = 0;
};

class MemoryNode {
 public:
  // `incarnation` is a number that no other node has, and that this one will not have when it
  // starts again. Whoever decides which nodes belong together chooses it, and tells it to the
  // clients. The node accepts in a daemon fiber until it is destroyed. Errors: those of
  // allocate_memory, register_memory and listen.
  static fabric::Result<std::unique_ptr<MemoryNode>> start(fabric::Host& host,
                                                           std::uint64_t incarnation,
                                                           const MemoryNodeOptions& options);
  ~MemoryNode();
  MemoryNode(const MemoryNode&) = delete;
  MemoryNode& operator=(const MemoryNode&) = delete;

  std::shared_ptr<fabric::MemoryBlock> memory() const;

 private:
  struct State;
  explicit MemoryNode(std::shared_ptr<State> state) : state_(std::move(state)) {}

  std::shared_ptr<State> state_;
};

}  // namespace falafel::stores
