#include "stores/nessie/node.h"

#include <cstring>
#include <utility>

#include "fabric/cooperative_cancellation.h"
#include "stores/bytes.h"

namespace falafel::nessie {

struct Node::State : std::enable_shared_from_this<Node::State> {
  State(fabric::Host& own_host, std::uint64_t own_number, std::uint64_t all_nodes,
        const Options& own_options)
      : host(own_host),
        number(own_number),
        nodes(all_nodes),
        options(own_options),
        layout(options.index_entries, options.data_entries,
               DataEntryLayout(options.most_key_bytes, options.most_value_bytes)),
        cache(options.cache_entries) {}

  fabric::Result<void> open();
  fabric::Result<void> register_tables();
  fabric::Result<void> create_service();
  void clear_index();
  void accept_connections();
  void accept(fabric::ConnectionRequest& request);
  void accept_requester(fabric::ConnectionRequest& request);
  fabric::QueuePairOptions queue_pair_options(fabric::CompletionQueue* queue,
                                              std::uint32_t requests) const;
  Hello hello() const;

  fabric::Host& host;
  std::uint64_t number;
  std::uint64_t nodes;
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
  EntryCache cache;
  std::unique_ptr<Service> service;
  fabric::FiberId acceptor = 0;
};

fabric::Result<void> Node::State::register_tables() {
  // Nobody has more rights than the architecture needs.
  const bool is_read = options.architecture != Architecture::server_driven;
  const bool is_changed = options.is_client_driven();
  auto index = domain->register_memory(
      block, 0, layout.index_table_bytes(),
      {.local_write = true, .remote_read = is_read, .remote_atomic = is_changed});
  if (!index) return tl::unexpected(index.error());
  auto data = domain->register_memory(
      block, layout.index_table_bytes(), layout.data_table_bytes(),
      {.local_write = true, .remote_read = is_read, .remote_write = is_changed});
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
  return options.is_client_driven() ? fabric::Result<void>() : create_service();
}

fabric::Result<void> Node::State::create_service() {
  auto created = Service::create(
      host, weak_from_this(), *domain,
      std::make_unique<ServedTable>(host, block, layout, number, nodes, *data_table, options),
      options);
  if (!created) return tl::unexpected(created.error());
  service = std::move(*created);
  return {};
}

fabric::QueuePairOptions Node::State::queue_pair_options(fabric::CompletionQueue* queue,
                                                         std::uint32_t requests) const {
  return {.protection_domain = domain.get(),
          .send_completions = queue,
          .receive_completions = queue,
          .max_send_requests = requests,
          .max_receive_requests = 1,
          .acknowledge_timeout_ns = options.acknowledge_timeout_ns,
          .retry_count = options.retry_count};
}

Hello Node::State::hello() const {
  return {.node = number,
          .index_key = index_region->remote_key(),
          .data_key = data_region->remote_key()};
}

// A client whose connection fails here tries again.
void Node::State::accept_requester(fabric::ConnectionRequest& request) {
  const auto client = stores::from_bytes<ClientHello>(request.private_data());
  if (!client) return;
  const auto place = service->admit(*client);
  if (!place) return;
  Hello answer = hello();
  answer.request_key = service->request_key();
  answer.request_slot = place->slot;
  auto queue_pair =
      request.accept(queue_pair_options(service->completions(*place), Service::most_requests),
                     stores::to_private_data(answer));
  if (queue_pair) service->attach(*place, std::move(*queue_pair));
}

void Node::State::accept(fabric::ConnectionRequest& request) {
  std::erase_if(queue_pairs, [](const auto& queue_pair) {
    return queue_pair->state() != fabric::QueuePairState::ready;
  });
  auto queue_pair =
      request.accept(queue_pair_options(completions.get(), 1), stores::to_private_data(hello()));
  // A client whose connection fails here tries again.
  if (queue_pair) queue_pairs.push_back(std::move(*queue_pair));
}

void Node::State::accept_connections() {
  while (!host.is_cancelled()) {
    std::unique_ptr<fabric::ConnectionRequest> request;
    {
      const fabric::CooperativeCancellation cooperative(host);
      request = listener->accept(fabric::never_ns);
    }
    if (request == nullptr) continue;
    if (service != nullptr) {
      accept_requester(*request);
    } else {
      accept(*request);
    }
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
  auto state = std::make_shared<State>(host, number, nodes, options);
  if (auto opened = state->open(); !opened) return tl::unexpected(opened.error());
  state->acceptor = host.spawn({.name = "nessie acceptor", .daemon = true},
                               [state] { state->accept_connections(); });
  return std::unique_ptr<Node>(new Node(std::move(state)));
}

Node::~Node() {
  state_->host.cancel(state_->acceptor);
  if (state_->service != nullptr) state_->service->stop();
}

std::uint64_t Node::number() const { return state_->number; }

DataTable& Node::data_table() { return *state_->data_table; }

EntryCache& Node::cache() { return state_->cache; }

std::uint64_t Node::load_index(std::uint64_t index) const {
  return state_->block->load(state_->layout.index_offset(index));
}

Service& Node::service() { return *state_->service; }

NodeInspection Node::inspect() const {
  return {.layout = state_->layout,
          .memory = state_->block,
          .books = state_->data_table->shared_books(),
          .service = state_->service == nullptr ? nullptr : state_->service->statistics()};
}

}  // namespace falafel::nessie
