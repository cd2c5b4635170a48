#include "tests/conformance/peer.h"

#include <gtest/gtest.h>

namespace falafel::conformance {
namespace {

constexpr std::uint16_t loopback_service = 99;
constexpr std::uint16_t first_service = 100;
constexpr std::uint64_t channel_slots = 4;  // words that may be sent before one is received

std::uint16_t channel_service(std::uint32_t client) {
  return static_cast<std::uint16_t>(first_service + 2 * client);
}

std::uint16_t link_service(std::uint32_t client) {
  return static_cast<std::uint16_t>(channel_service(client) + 1);
}

Home make_home(Host& host, const PairOptions& options) {
  auto site = std::make_shared<Site>(host);
  auto memory = std::make_shared<Memory>(site->make_memory(options.memory_bytes, options.access));
  return {.site = std::move(site), .memory = std::move(memory)};
}

Peer accept_peer(const Home& home, const PairOptions& options, std::uint32_t client) {
  Device& device = home.site->device;
  const auto channel_listener = require(device.listen(channel_service(client)));
  const auto link_listener = require(device.listen(link_service(client)));
  Channel channel(*home.site, accept_link(*home.site, *channel_listener));
  Link link = accept_link(*home.site, *link_listener, options.queue_pair,
                          to_private_data(home.memory->region->remote_key()));
  return {home, std::move(link), std::move(channel), client};
}

Peer connect_peer(const Home& home, const PairOptions& options, std::uint32_t client) {
  Channel channel(*home.site, connect_link(*home.site, {"server", channel_service(client)}));
  Link link = connect_link(*home.site, {"server", link_service(client)}, options.queue_pair,
                           to_private_data(home.memory->region->remote_key()));
  return {home, std::move(link), std::move(channel), client};
}

void run_body(Peer peer, const PairOptions& options, const PeerBody& body) {
  body(peer);
  if (!options.farewell) return;
  peer.channel.tell();
  peer.channel.hear();
}

std::optional<Connection> try_connect(Site& site, const Address& address,
                                      const QueuePairOptions& options,
                                      const PrivateData& private_data) {
  auto result =
      site.device.connect(address, options, private_data, site.host.now_ns() + patience_ns);
  const auto error = error_of(result);
  if (error == ErrorCode::connection_refused || error == ErrorCode::unreachable) return {};
  return require(std::move(result));
}

}  // namespace

std::vector<std::byte> pattern(std::size_t length_bytes, std::uint8_t salt) {
  std::vector<std::byte> bytes(length_bytes);
  for (std::size_t i = 0; i < length_bytes; ++i) {
    bytes[i] = static_cast<std::byte>((i * 7 + salt) % 255 + 1);
  }
  return bytes;
}

std::vector<std::byte> read_bytes(MemoryBlock& block, std::uint64_t offset,
                                  std::size_t length_bytes) {
  std::vector<std::byte> bytes(length_bytes);
  block.read(offset, bytes);
  return bytes;
}

Site::Site(Host& owner, std::size_t device_index)
    : host(owner),
      device(owner.device(device_index)),
      protection_domain(device.create_protection_domain()) {}

Memory Site::make_memory(std::uint64_t size_bytes, Access access) {
  Memory memory;
  memory.block = require(host.allocate_memory(size_bytes));
  memory.region = require(protection_domain->register_memory(memory.block, 0, size_bytes, access));
  return memory;
}

std::unique_ptr<CompletionQueue> Site::make_completion_queue(std::uint32_t capacity) {
  return require(device.create_completion_queue(capacity));
}

bool wait_until(Host& host, const std::function<bool()>& condition) {
  const std::uint64_t deadline_ns = host.now_ns() + patience_ns;
  while (!condition()) {
    if (host.now_ns() >= deadline_ns) return false;
    sleep(host, 1 + host.random(microsecond_ns));
  }
  return true;
}

void sleep(Host& host, std::uint64_t duration_ns) { host.sleep_until(host.now_ns() + duration_ns); }

WorkRequest make_request(Opcode opcode, MemoryAddress local, std::uint32_t length_bytes,
                         MemoryAddress remote) {
  WorkRequest request;
  request.opcode = opcode;
  request.length_bytes = length_bytes;
  request.local = local;
  request.remote = remote;
  return request;
}

Link::Link(Site& site, const QueuePairOptions& wanted)
    : host(site.host),
      send_completions(site.make_completion_queue(wanted.max_send_requests)),
      receive_completions(site.make_completion_queue(wanted.max_receive_requests)),
      options(wanted) {
  const bool has_rc = site.device.attributes().supports_reliable_connection;
  if (!has_rc && wanted.transport == Transport::reliable_connection) {
    options.transport = Transport::message_stream;
  }
  options.protection_domain = site.protection_domain.get();
  options.send_completions = send_completions.get();
  options.receive_completions = receive_completions.get();
}

void Link::post(std::span<const WorkRequest> chain) { require(queue_pair->post_send(chain)); }

void Link::post_receive(const MemoryAddress& local, std::uint32_t length_bytes, std::uint64_t id) {
  const ReceiveRequest request{.id = id, .local = local, .length_bytes = length_bytes};
  require(queue_pair->post_receive({&request, 1}));
}

static WorkCompletion next(Host& host, CompletionQueue& queue) {
  WorkCompletion completion;
  require(queue.wait(host.now_ns() + patience_ns), "no completion came");
  require(queue.poll({&completion, 1}) == 1, "there was a completion, but it cannot be polled");
  return completion;
}

WorkCompletion Link::next_completion() { return next(host, *send_completions); }
WorkCompletion Link::next_received() { return next(host, *receive_completions); }

WorkCompletion Link::execute(const WorkRequest& request) {
  post({request});
  return next_completion();
}

Link connect_link(Site& site, const Address& address, const QueuePairOptions& options,
                  const PrivateData& private_data) {
  Link link(site, options);
  std::optional<Connection> connection;
  const bool connected = wait_until(site.host, [&] {
    connection = try_connect(site, address, link.options, private_data);
    return connection.has_value();
  });
  require(connected, "cannot connect to " + address.host);
  link.queue_pair = std::move(connection->queue_pair);
  link.private_data = std::move(connection->private_data);
  return link;
}

Link accept_link(Site& site, Listener& listener, const QueuePairOptions& options,
                 const PrivateData& private_data) {
  Link link(site, options);
  const auto request = listener.accept(site.host.now_ns() + patience_ns);
  require(request != nullptr, "nobody connects");
  link.private_data = request->private_data();
  link.queue_pair = require(request->accept(link.options, private_data));
  return link;
}

Loopback connect_to_itself(Site& site, const QueuePairOptions& options) {
  const auto listener = require(site.device.listen(loopback_service));
  std::optional<Link> near;
  const FiberId connector = spawn(site.host, [&] {
    near.emplace(connect_link(site, {site.host.name(), loopback_service}, options));
  });
  Link far = accept_link(site, *listener, options);
  site.host.join(connector);
  require(near.has_value(), "no connection to itself");
  return {.near = std::move(*near), .far = std::move(far)};
}

// Slot 0 is for outgoing words, the others for incoming ones.
Channel::Channel(Site& site, Link link)
    : memory_(site.make_memory((1 + channel_slots) * word_bytes)), link_(std::move(link)) {
  for (std::uint64_t slot = 1; slot <= channel_slots; ++slot) post_receive(slot);
}

void Channel::tell(std::uint64_t word) {
  memory_.block->store(0, word);
  const WorkCompletion completion =
      link_.execute(make_request(Opcode::send, memory_.local(), word_bytes));
  require(completion.status == CompletionStatus::success, "the other side does not hear");
}

std::uint64_t Channel::hear() {
  const WorkCompletion completion = link_.next_received();
  require(completion.status == CompletionStatus::success, "the other side is gone");
  const std::uint64_t word = memory_.block->load(completion.id * word_bytes);
  post_receive(completion.id);
  return word;
}

void Channel::post_receive(std::uint64_t slot) {
  link_.post_receive(memory_.local(slot * word_bytes), word_bytes, slot);
}

Peer::Peer(Home home, Link link, Channel channel_beside, std::uint32_t client_index)
    : Home(std::move(home)),
      Link(std::move(link)),
      channel(std::move(channel_beside)),
      index(client_index),
      remote_key(from_private_data<std::uint32_t>(private_data)) {}

WorkRequest Peer::read(std::uint64_t local_offset, std::uint64_t remote_offset,
                       std::uint32_t length_bytes) const {
  return make_request(Opcode::read, memory->local(local_offset), length_bytes,
                      remote(remote_offset));
}

WorkRequest Peer::write(std::uint64_t local_offset, std::uint64_t remote_offset,
                        std::uint32_t length_bytes) const {
  return make_request(Opcode::write, memory->local(local_offset), length_bytes,
                      remote(remote_offset));
}

WorkRequest Peer::compare_and_swap(std::uint64_t local_offset, std::uint64_t remote_offset,
                                   std::uint64_t expected, std::uint64_t desired) const {
  WorkRequest request = make_request(Opcode::compare_and_swap, memory->local(local_offset),
                                     word_bytes, remote(remote_offset));
  request.compare = expected;
  request.swap_or_add = desired;
  return request;
}

WorkRequest Peer::fetch_and_add(std::uint64_t local_offset, std::uint64_t remote_offset,
                                std::uint64_t addend) const {
  WorkRequest request = make_request(Opcode::fetch_and_add, memory->local(local_offset), word_bytes,
                                     remote(remote_offset));
  request.swap_or_add = addend;
  return request;
}

WorkRequest Peer::send(std::uint64_t local_offset, std::uint32_t length_bytes) const {
  return make_request(Opcode::send, memory->local(local_offset), length_bytes);
}

void Peer::succeed(const WorkRequest& request, std::source_location location) {
  const WorkCompletion completion = execute(request);
  require(completion.status == CompletionStatus::success,
          std::string(to_string(request.opcode)) + ": " + std::string(to_string(completion.status)),
          location);
}

std::vector<std::byte> Peer::fetch(std::uint64_t remote_offset, std::uint32_t length_bytes) {
  succeed(read(0, remote_offset, length_bytes));
  return read_bytes(block(), 0, length_bytes);
}

std::uint64_t Peer::fetch_word(std::uint64_t remote_offset) {
  succeed(read(0, remote_offset, word_bytes));
  return block().load(0);
}

void add_pairs(Backend& backend, const PairOptions& options, const PeerBody& client,
               const PeerBody& server, const std::function<void(Site&, Memory&)>& at_end) {
  backend.add_host({.name = "server", .role = Role::server}, [=](Host& host) {
    const Home home = make_home(host, options);
    std::vector<FiberId> sides;
    for (std::uint32_t i = 0; i < options.client_count; ++i) {
      sides.push_back(spawn(host, [&home, &options, &server, i] {
        run_body(accept_peer(home, options, i), options, server);
      }));
    }
    for (const FiberId side : sides) host.join(side);
    if (at_end) at_end(*home.site, *home.memory);
  });
  for (std::uint32_t i = 0; i < options.client_count; ++i) {
    backend.add_host({.name = "client_" + std::to_string(i)}, [=](Host& host) {
      run_body(connect_peer(make_home(host, options), options, i), options, client);
    });
  }
}

std::optional<ErrorCode> error_of_posting(Peer& peer, const WorkRequest& request) {
  return error_of_posting(peer, std::span(&request, 1));
}

std::optional<ErrorCode> error_of_posting(Peer& peer, std::span<const WorkRequest> chain) {
  return error_of(peer.queue_pair->post_send(chain));
}

}  // namespace falafel::conformance
