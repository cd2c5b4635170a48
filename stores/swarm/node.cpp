#include "stores/swarm/node.h"

#include "stores/swarm/layout.h"

namespace falafel::swarm {

fabric::Result<std::unique_ptr<stores::MemoryNode>> start_node(fabric::Host& host,
                                                               std::uint64_t incarnation,
                                                               const Options& options) {
  return stores::MemoryNode::start(host, incarnation,
                                   {.service = options.service,
                                    .memory_bytes = Layout(options).memory_bytes(),
                                    .acknowledge_timeout_ns = options.acknowledge_timeout_ns,
                                    .retry_count = options.retry_count});
}

}  // namespace falafel::swarm
