#include "stores/replicated/server.h"

#include "stores/replicated/layout.h"

namespace falafel::replicated {

fabric::Result<std::unique_ptr<stores::MemoryNode>> start_server(fabric::Host& host,
                                                                 std::uint64_t incarnation,
                                                                 const Options& options) {
  return stores::MemoryNode::start(host, incarnation,
                                   {.service = options.service,
                                    .memory_bytes = Layout(options).memory_bytes(),
                                    .acknowledge_timeout_ns = options.acknowledge_timeout_ns,
                                    .retry_count = options.retry_count});
}

}  // namespace falafel::replicated
