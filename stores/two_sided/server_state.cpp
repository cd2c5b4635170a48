#include "stores/two_sided/server_state.h"

#include <fmt/format.h>

#include <numeric>
#include <utility>

#include "fabric/text.h"
#include "stores/accept_connections.h"
#include "stores/bytes.h"

namespace falafel::two_sided {
namespace {

PortSizes sizes_of_port(const Options& options) {
  return {.received_bytes = sizeof(Request),
          .sent_bytes = sizeof(Response),
          .receive_buffers = options.posted_receives,
          .receive_requests = options.posted_receives};
}

void post_receives(Port& port, const Options& options) {
  for (std::uint32_t buffer = 0; buffer < options.posted_receives; ++buffer) {
    port.post_receive(buffer);
  }
}

}  // namespace

ServerState::ServerState(fabric::Host& host, const Options& options)
    : host_(host), options_(options), table_(host, options_) {}

// Start and end

fabric::Result<void> ServerState::start() {
  if (options_.uses_datagrams()) {
    if (auto opened = open_datagram_port(); !opened) return tl::unexpected(opened.error());
  }
  auto listener = host_.device(0).listen(options_.service);
  if (!listener) return tl::unexpected(listener.error());
  listener_ = std::move(*listener);
  acceptor_ = host_.spawn({.name = "accept", .daemon = true}, [self = shared_from_this()] {
    stores::accept_connections(self->host_, *self->listener_,
                               [&](fabric::ConnectionRequest& request) { self->admit(request); });
  });
  return {};
}

fabric::Result<void> ServerState::open_datagram_port() {
  PortSizes sizes = sizes_of_port(options_);
  sizes.send_buffers = options_.max_clients;
  auto port = Port::create(host_, options_, sizes);
  if (!port) return tl::unexpected(port.error());
  auto queue_pair = host_.device(0).create_datagram_queue_pair(
      (*port)->queue_pair_options(fabric::Transport::unreliable_datagram));
  if (!queue_pair) return tl::unexpected(queue_pair.error());
  (*port)->attach(std::move(*queue_pair));
  datagram_port_ = std::move(*port);
  free_send_buffers_.resize(options_.max_clients);
  std::iota(free_send_buffers_.begin(), free_send_buffers_.end(), 0);
  post_receives(*datagram_port_, options_);
  return {};
}

void ServerState::stop() {
  if (acceptor_) host_.cancel(*acceptor_);
  for (const auto& [worker, fiber] : workers_) host_.cancel(fiber);
}

ServerStatistics ServerState::statistics() const {
  ServerStatistics statistics = statistics_;
  statistics.clients_connected = clients_.size();
  statistics.workers = workers_.size();
  statistics.pairs = table_.pairs();
  statistics.table_bytes = table_.memory_bytes();
  return statistics;
}

ServerInspection ServerState::inspect() const {
  return {.options = options_, .table = table_.inspect(), .statistics = statistics()};
}

// Connecting

void ServerState::admit(fabric::ConnectionRequest& request) {
  const auto hello = stores::from_bytes<ClientHello>(request.private_data());
  if (!hello || hello->magic != hello_magic || hello->version != layout_version) {
    return request.reject(fabric::copied_bytes_of("not a client of this store and version"));
  }
  if (hello->transport != static_cast<std::uint32_t>(options_.transport)) {
    return request.reject(
        fabric::copied_bytes_of(fmt::format("the server uses {}", to_string(options_.transport))));
  }
  if (workers_.size() >= options_.max_clients) {
    return request.reject(
        fabric::copied_bytes_of(fmt::format("the server has its {} workers", workers_.size())));
  }
  const std::int32_t client = next_client_++;
  const auto station = make_station(request, client);
  if (!station) return request.reject(fabric::copied_bytes_of("the server is out of memory"));
  clients_.insert(client);
  spawn_worker(client, *station);
}

// Accepts.
fabric::Result<ServerState::Station> ServerState::make_station(fabric::ConnectionRequest& request,
                                                               std::int32_t client) {
  auto made = Port::create(host_, options_, sizes_of_port(options_));
  if (!made) return tl::unexpected(made.error());
  const ServerHello hello{
      .client_id = client,
      .queue_pair_number = datagram_port_ ? datagram_port_->queue_pair().number() : 0};
  const fabric::Transport transport =
      datagram_port_ ? fabric::Transport::reliable_connection : options_.transport;
  auto accepted =
      request.accept((*made)->queue_pair_options(transport), stores::to_private_data(hello));
  if (!accepted) return tl::unexpected(accepted.error());
  (*made)->attach(std::move(*accepted));
  if (!datagram_port_) {
    post_receives(**made, options_);
    return Station{.port = std::move(*made)};
  }
  side_channels_[client] = std::move(*made);
  const Station station{.port = datagram_port_, .send_buffer = free_send_buffers_.back()};
  free_send_buffers_.pop_back();
  return station;
}

// Workers

void ServerState::spawn_worker(std::int32_t client, const Station& station) {
  const std::uint64_t worker = next_worker_++;
  workers_[worker] = host_.spawn({.name = "worker", .daemon = true},
                                 [self = shared_from_this(), worker, client, station] {
                                   self->work(worker, client, station);
                                 });
}

// On all but UD, the end of a worker is the end of its client's connection, whatever the reason.
void ServerState::work(std::uint64_t worker, std::int32_t client, const Station& station) {
  const Shared shared{
      .host = host_, .options = options_, .table = table_, .log = log_, .statistics = statistics_};
  const auto closed = Worker(shared, *station.port, station.send_buffer).run();
  if (host_.is_cancelled()) return;
  workers_.erase(worker);
  const std::int32_t closed_client = closed.value_or(client);
  clients_.erase(closed_client);
  if (!datagram_port_) return;
  side_channels_.erase(closed_client);
  free_send_buffers_.push_back(station.send_buffer);
}

}  // namespace falafel::two_sided
