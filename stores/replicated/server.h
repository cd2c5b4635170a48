// A server of the replicated registers.
#pragma once

#include <cstdint>
#include <memory>

#include "fabric/fabric.h"
#include "stores/memory_nodes/memory_node.h"
#include "stores/replicated/options.h"

namespace falafel::replicated {

// As MemoryNode::start.
fabric::Result<std::unique_ptr<stores::MemoryNode>> start_server(fabric::Host& host,
                                                                 std::uint64_t incarnation,
                                                                 const Options& options);

}  // namespace falafel::replicated
