#include "stores/nessie/node.h"

#include <cstring>
#include <utility>

namespace falafel::nessie {

struct Node::State {
  State(fabric::Host& own_host, std::uint64_t own_number, const Options& own_options)
      : host(own_host),
        number(own_number),
        options(own_options),
        layout(options.index_entries, options.data_entries,
               DataEntryLayout(options.most_key_bytes, options.most_value_bytes)) {}

  fabric::Result<void> open();
  fabric::Result<void> register_tables();
  void clear_index();
  void accept_connections();
  void accept(fabric::ConnectionRequest& request);

  fabric::Host& host;
  std::uint64_t number;
  Options options;
  NodeLayout layout;
  std::unique_ptr<fabric::ProtectionDomain> domain;
  std::shared_ptr<fabric::MemoryBlock> block;
  std::unique_ptr<fabric::MemoryRegion> index_region;
  std::unique_ptr<fabric::MemoryRegion> data_region;
  std::unique_ptr<fabric::CompletionQueue> completions;  // stays empty: a node posts nothing
  std::unique_ptr<fabric::Listener> listener;
  std::vector<std::unique_ptr<fabric::QueuePair>> queue_pairs;
  std::unique_ptr<DataTable> data_table;
  fabric::FiberId acceptor = 0;
};

fabric::Result<void> Node::State::register_tables() {
  auto index =
      domain->register_memory(block, 0, layout.index_table_bytes(),
                              {.local_write = true, .remote_read = true, .remote_atomic = true});
  if (!index) return tl::unexpected(index.error());
  auto data =
      domain->register_memory(block, layout.index_table_bytes(), layout.data_table_bytes(),
                              {.local_write = true, .remote_read = true, .remote_write = true});
  if (!data) return tl::unexpected(data.error());
  index_region = std::move(*index);
  data_region = std::move(*data);
  return {};
}

void Node::State::clear_index() {
  const auto bytes = block->bytes();
  for (std::uint64_t index = 0; index < layout.index_entries(); ++index) {
    std::memcpy(bytes.data() + layout.index_offset(index), &empty_word, sizeof empty_word);
  }
}

fabric::Result<void> Node::State::open() {
  constexpr std::uint32_t most_connections = 1'024;
  domain = host.device(0).create_protection_domain();
  auto memory = host.allocate_memory(layout.block_bytes());
  if (!memory) return tl::unexpected(memory.error());
  block = std::move(*memory);
  clear_index();
  if (auto registered = register_tables(); !registered) return registered;
  auto queue = host.device(0).create_completion_queue(2 * most_connections);
  if (!queue) return tl::unexpected(queue.error());
  completions = std::move(*queue);
  auto listening = host.device(0).listen(options.service);
  if (!listening) return tl::unexpected(listening.error());
  listener = std::move(*listening);
  data_table = std::make_unique<DataTable>(host, block, layout, number, options);
  return {};
}

void Node::State::accept(fabric::ConnectionRequest& request) {
  std::erase_if(queue_pairs, [](const auto& queue_pair) {
    return queue_pair->state() != fabric::QueuePairState::ready;
  });
  const Hello hello{.node = number,
                    .index_key = index_region->remote_key(),
                    .data_key = data_region->remote_key()};
  fabric::PrivateData private_data(sizeof hello);
  std::memcpy(private_data.data(), &hello, sizeof hello);
  auto queue_pair = request.accept({.protection_domain = domain.get(),
                                    .send_completions = completions.get(),
                                    .receive_completions = completions.get(),
                                    .max_send_requests = 1,
                                    .max_receive_requests = 1,
                                    .acknowledge_timeout_ns = options.acknowledge_timeout_ns,
                                    .retry_count = options.retry_count},
                                   std::move(private_data));
  // A client whose connection fails here tries again.
  if (queue_pair) queue_pairs.push_back(std::move(*queue_pair));
}

void Node::State::accept_connections() {
  while (!host.is_cancelled()) {
    std::unique_ptr<fabric::ConnectionRequest> request;
    {
      const fabric::EndHere end_here(host);
      request = listener->accept(fabric::never_ns);
    }
    if (request != nullptr) accept(*request);
  }
}

fabric::Result<std::unique_ptr<Node>> Node::start(fabric::Host& host, std::uint64_t number,
                                                  std::uint64_t nodes, const Options& options) {
  if (auto problem = find_invalid_option(options, nodes, host.device(0).attributes())) {
    return fabric::make_error(fabric::ErrorCode::invalid_argument, std::move(*problem));
  }
  if (number >= nodes) {
    return fabric::make_error(fabric::ErrorCode::invalid_argument,
                              "node " + std::to_string(number) + " is not one of " +
                                  std::to_string(nodes) + " nodes, which count from 0");
  }
  auto state = std::make_shared<State>(host, number, options);
  if (auto opened = state->open(); !opened) return tl::unexpected(opened.error());
  state->acceptor = host.spawn({.name = "nessie acceptor", .daemon = true},
                               [state] { state->accept_connections(); });
  return std::unique_ptr<Node>(new Node(std::move(state)));
}

Node::~Node() { state_->host.cancel(state_->acceptor); }

std::uint64_t Node::number() const { return state_->number; }

DataTable& Node::data_table() { return *state_->data_table; }

NodeInspection Node::inspect() const {
  return {.layout = state_->layout,
          .memory = state_->block,
          .books = state_->data_table->shared_books()};
}

}  // namespace falafel::nessie
