#include "stores/memory_nodes/memory_node.h"

#include <vector>

#include "stores/accept_connections.h"
#include "stores/bytes.h"
#include "stores/registered_memory.h"

namespace falafel::stores {

struct MemoryNode::State {
  State(fabric::Host& own_host, std::uint64_t own_incarnation, const MemoryNodeOptions& own_options)
      : host(own_host), incarnation(own_incarnation), options(own_options) {}

  fabric::Result<void> open();
  void accept(fabric::ConnectionRequest& request);

  fabric::Host& host;
  std::uint64_t incarnation;
  MemoryNodeOptions options;
  std::unique_ptr<fabric::ProtectionDomain> domain;
  RegisteredMemory memory;
  std::unique_ptr<fabric::CompletionQueue> completions;  // stays empty: a node posts nothing
  std::unique_ptr<fabric::Listener> listener;
  std::vector<std::unique_ptr<fabric::QueuePair>> queue_pairs;
  fabric::FiberId acceptor = 0;
};

fabric::Result<void> MemoryNode::State::open() {
  constexpr std::uint32_t most_connections = 1'024;
  domain = host.device(0).create_protection_domain();
  auto registered = RegisteredMemory::create(
      host, *domain, options.memory_bytes,
      {.local_write = true, .remote_read = true, .remote_write = true, .remote_atomic = true});
  if (!registered) return tl::unexpected(registered.error());
  memory = std::move(*registered);
  auto queue = host.device(0).create_completion_queue(2 * most_connections);
  if (!queue) return tl::unexpected(queue.error());
  completions = std::move(*queue);
  auto listening = host.device(0).listen(options.service);
  if (!listening) return tl::unexpected(listening.error());
  listener = std::move(*listening);
  return {};
}

void MemoryNode::State::accept(fabric::ConnectionRequest& request) {
  std::erase_if(queue_pairs, [](const auto& queue_pair) {
    return queue_pair->state() != fabric::QueuePairState::ready;
  });
  const MemoryNodeHello hello{.incarnation = incarnation,
                              .remote_key = memory.region->remote_key()};
  auto queue_pair = request.accept({.protection_domain = domain.get(),
                                    .send_completions = completions.get(),
                                    .receive_completions = completions.get(),
                                    .max_send_requests = 1,
                                    .max_receive_requests = 1,
                                    .acknowledge_timeout_ns = options.acknowledge_timeout_ns,
                                    .retry_count = options.retry_count},
                                   to_private_data(hello));
  // A client whose connection fails here tries again.
  if (queue_pair) queue_pairs.push_back(std::move(*queue_pair));
}

fabric::Result<std::unique_ptr<MemoryNode>> MemoryNode::start(fabric::Host& host,
                                                              std::uint64_t incarnation,
                                                              const MemoryNodeOptions& options) {
  auto state = std::make_shared<State>(host, incarnation, options);
  if (auto opened = state->open(); !opened) return tl::unexpected(opened.error());
  state->acceptor = host.spawn({.name = "acceptor", .daemon = true}, [state] {
    accept_connections(state->host, *state->listener,
                       [&state](fabric::ConnectionRequest& request) { state->accept(request); });
  });
  return std::unique_ptr<MemoryNode>(new MemoryNode(std::move(state)));
}

MemoryNode::~MemoryNode() { state_->host.cancel(state_->acceptor); }

std::shared_ptr<fabric::MemoryBlock> MemoryNode::memory() const { return state_->memory.block; }

}  // namespace falafel::stores
