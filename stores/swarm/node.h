// A memory node of SWARM-KV, or the node of its index.
#pragma once

#include <cstdint>
#include <memory>

#include "fabric/fabric.h"
#include "stores/memory_nodes/memory_node.h"
#include "stores/swarm/options.h"

namespace falafel::swarm {

// As MemoryNode::start.
fabric::Result<std::unique_ptr<stores::MemoryNode>> start_node(fabric::Host& host,
                                                               std::uint64_t incarnation,
                                                               const Options& options);

}  // namespace falafel::swarm
