#include "engine/server/membership.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "engine/probes.h"
#include "engine/server/client_channel.h"
#include "fabric/cooperative_cancellation.h"

namespace falafel::engine {
namespace {

// If the server wakes later than intended by this fraction of the heartbeat time-out, the server
// itself was stalled.
constexpr std::uint64_t lateness_divisor = 5;

fabric::PrivateData to_reason(std::string_view text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

}  // namespace

// Members are destroyed in reverse order: the queue pair first, the domain last.
struct Membership::Client {
  std::uint32_t number = 0;
  std::unique_ptr<fabric::ProtectionDomain> domain;
  std::optional<ClientChannel> channel;
  std::unique_ptr<fabric::MemoryRegion> chunk;
  std::unique_ptr<fabric::MemoryRegion> table;
  std::unique_ptr<fabric::MemoryRegion> later_tables;  // none: the table does not grow
  std::map<std::uint32_t, std::unique_ptr<fabric::MemoryRegion>> regions;
  std::uint64_t last_heard_ns = 0;
  std::array<std::uint64_t, question_count> answer_due_ns{};  // never_ns: no request is pending
  bool given_up = false;                                      // will be fenced
  bool expelled = false;
  bool fenced = false;  // is fenced and waits for the flush
  std::uint64_t flush_due_ns = 0;
  bool quarantined = false;  // the flush is overdue
  bool drained = false;      // the flush has completed
  std::unique_ptr<fabric::QueuePair> queue_pair;
};

Membership::Membership(fabric::Host& host, const Chunk& chunk, const ServerOptions& options,
                       fabric::CompletionQueue& completions, ClientEvents& events)
    : host_(host),
      chunk_(chunk),
      options_(options),
      completions_(completions),
      events_(events),
      changed_(host.create_event()) {}

Membership::~Membership() = default;

std::uint32_t Membership::completions_per_client() { return ClientChannel::buffer_count; }

std::optional<std::string> Membership::find_unmet_requirement(
    const fabric::DeviceAttributes& device) {
  const auto need = [](std::string_view name, std::uint32_t has, std::uint64_t needed) {
    return fmt::format("{} of the device is {}, and a server needs {}; use another device", name,
                       has, needed);
  };
  if (device.max_queue_requests < ClientChannel::receive_count) {
    return need("max_queue_requests", device.max_queue_requests, ClientChannel::receive_count);
  }
  if (device.max_completions < completions_per_client()) {
    return need("max_completions", device.max_completions, completions_per_client());
  }
  return std::nullopt;
}

// Joining

fabric::Result<std::unique_ptr<Membership::Client>> Membership::make_client() {
  auto client = std::make_unique<Client>();
  client->domain = host_.device(0).create_protection_domain();
  auto buffers = allocate_local_memory(host_, *client->domain, ClientChannel::buffers_bytes);
  if (!buffers) return tl::unexpected(buffers.error());
  client->number = next_number_++;
  client->channel.emplace(client->number, std::move(*buffers));
  const Geometry& geometry = chunk_.geometry;
  auto chunk = client->domain->register_memory(chunk_.block, 0, geometry.chunk_bytes(),
                                               {.remote_read = true});
  if (!chunk) return tl::unexpected(chunk.error());
  client->chunk = std::move(*chunk);
  auto table = client->domain->register_memory(
      chunk_.block, Geometry::table_offset(), geometry.table_entries * entry_bytes,
      {.local_write = true, .remote_read = true, .remote_atomic = true});
  if (!table) return tl::unexpected(table.error());
  client->table = std::move(*table);
  if (!geometry.can_grow()) return client;
  auto later_tables = client->domain->register_memory(
      chunk_.block, geometry.later_tables_offset(), geometry.later_tables_bytes(),
      {.local_write = true, .remote_read = true, .remote_atomic = true});
  if (!later_tables) return tl::unexpected(later_tables.error());
  client->later_tables = std::move(*later_tables);
  return client;
}

void Membership::accept(fabric::ConnectionRequest& request) {
  const auto hello = from_bytes<ClientHello>(request.private_data());
  if (!hello || hello->magic != hello_magic)
    return request.reject(to_reason("the connection request is not from a Falafel client"));
  if (hello->version != message_version) {
    // Clients recognize a version mismatch by the words "speaks version".
    return request.reject(to_reason(fmt::format("the server speaks version {}", message_version)));
  }
  if (clients_.size() >= options_.max_clients) {
    return request.reject(to_reason(
        fmt::format("the server already has the maximum of {} clients", options_.max_clients)));
  }
  auto made = make_client();
  if (!made) return request.reject(to_reason("the server is out of memory"));
  Client& client = **made;
  client.last_heard_ns = host_.now_ns();
  client.answer_due_ns.fill(fabric::never_ns);
  const ServerHello answer{.chunk_key = client.chunk->remote_key(),
                           .table_key = client.table->remote_key(),
                           .chunk_bytes = chunk_.geometry.chunk_bytes(),
                           .heartbeat_timeout_ns = options_.heartbeat_timeout_ns};
  const auto receives = client.channel->receives();
  auto accepted = request.accept(
      {.protection_domain = client.domain.get(),
       .send_completions = &completions_,
       .receive_completions = &completions_,
       .max_send_requests = ClientChannel::send_count,
       .max_receive_requests = ClientChannel::receive_count,
       .acknowledge_timeout_ns = options_.acknowledge_timeout_ns,
       .retry_count = options_.retry_count},
      client.later_tables
          ? to_bytes(GrowingServerHello{.hello = answer,
                                        .later_tables_key = client.later_tables->remote_key()})
          : to_bytes(answer),
      receives);
  if (!accepted) return request.reject(to_reason(accepted.error().detail));
  client.queue_pair = std::move(*accepted);
  client.channel->attach(*client.queue_pair);
  clients_[client.number] = std::move(*made);
  events_.on_joined(client.number);
  changed_->notify_all();
}

Membership::Client* Membership::find(std::uint32_t number) const {
  const auto found = clients_.find(number);
  return found == clients_.end() ? nullptr : found->second.get();
}

bool Membership::is_connected(std::uint32_t number) const {
  const Client* const client = find(number);
  return client != nullptr && !client->given_up;
}

bool Membership::is_retiring() const {
  return std::ranges::any_of(clients_, [](const auto& numbered) {
    return numbered.second->given_up && !numbered.second->quarantined;
  });
}

void Membership::count_into(ServerStatistics& statistics) const {
  statistics.clients_connected = clients_.size();
  statistics.clients_fenced = fenced_;
  statistics.clients_expelled = expelled_;
  statistics.flushes_overdue = flushes_overdue_;
}

std::vector<ClientInspection> Membership::clients() const {
  const std::uint64_t now_ns = host_.now_ns();
  std::vector<ClientInspection> inspections;
  inspections.reserve(clients_.size());
  for (const auto& [number, client] : clients_) {
    inspections.push_back({.number = number,
                           .silence_ns = now_ns - client->last_heard_ns,
                           .awaited = false,
                           .leaving = client->given_up,
                           .quarantined = client->quarantined,
                           .expelled = client->expelled,
                           .unconfirmed = client->channel ? client->channel->unconfirmed() : 0});
  }
  return inspections;
}

fabric::Result<std::uint32_t> Membership::allow_region(std::uint32_t number, std::uint32_t region) {
  Client& client = *clients_.at(number);
  auto registered = client.domain->register_memory(
      chunk_.block, chunk_.geometry.region_offset(region), chunk_.geometry.region_bytes,
      {.local_write = true, .remote_read = true, .remote_write = true});
  if (!registered) return tl::unexpected(registered.error());
  client.regions[region] = std::move(*registered);
  return client.regions[region]->remote_key();
}

void Membership::revoke_region(std::uint32_t number, std::uint32_t region) {
  const auto found = clients_.find(number);
  if (found != clients_.end()) found->second->regions.erase(region);
}

// Messages

void Membership::send(std::uint32_t number, const ControlMessage& message) {
  FALAFEL_ASSERT(!is_sent_by_clients(message.kind), "the server sends a message of kind {}",
                 static_cast<std::uint32_t>(message.kind));
  Client* const client = find(number);
  if (client != nullptr && !client->given_up) client->channel->send(message);
}

void Membership::ask(std::uint32_t number, Question question, const ControlMessage& message) {
  Client* const client = find(number);
  if (client == nullptr) return;
  const std::uint64_t timeouts = question == Question::end ? 3 : 1;
  client->answer_due_ns[static_cast<std::size_t>(question)] =
      host_.now_ns() + timeouts * options_.heartbeat_timeout_ns;
  changed_->notify_all();
  send(number, message);
}

void Membership::answered(std::uint32_t number, Question question) {
  Client* const client = find(number);
  if (client == nullptr) return;
  client->answer_due_ns[static_cast<std::size_t>(question)] = fabric::never_ns;
}

void Membership::wait_for_completions() {
  const fabric::CooperativeCancellation cooperative(host_);
  completions_.wait(fabric::never_ns);
}

void Membership::receive_messages() {
  for (;;) {
    wait_for_completions();
    if (host_.is_cancelled()) return;
    handle_batch();
  }
}

// Returns false if there was nothing to handle.
bool Membership::handle_batch() {
  std::array<fabric::WorkCompletion, 16> batch;
  const std::size_t count = completions_.poll(batch);
  for (const fabric::WorkCompletion& completion : std::span(batch).first(count)) {
    handle(completion);
  }
  return count > 0;
}

// Handles only the messages that have arrived so far, so a client that keeps sending does not keep
// the server from other work.
void Membership::hear_what_has_come() {
  const std::size_t most_batches = clients_.size() + 1;
  for (std::size_t batch = 0; batch < most_batches && handle_batch(); ++batch) {
  }
}

void Membership::handle(const fabric::WorkCompletion& completion) {
  Client* const client = find(static_cast<std::uint32_t>(completion.id >> 32));
  if (client == nullptr) return;  // it has left
  if (completion.status != fabric::CompletionStatus::success) {
    client->drained = client->drained || completion.status == fabric::CompletionStatus::flushed;
    return give_up(*client);
  }
  const std::uint64_t buffer = completion.id & 0xffff'ffff;
  if (buffer < ClientChannel::receive_count) {
    handle_received(*client, buffer, completion.length_bytes);
  } else if (!client->given_up) {
    client->channel->on_sent(buffer);
  }
}

void Membership::handle_received(Client& client, std::uint64_t buffer, std::uint32_t length_bytes) {
  const auto message = client.channel->on_received(buffer, length_bytes);
  if (client.given_up) return;
  client.last_heard_ns = host_.now_ns();
  if (!message) return expel(client.number, message.error());
  if (message->kind == MessageKind::goodbye) return give_up(client);
  events_.on_message(client.number, *message);
  if (!client.given_up) client.channel->acknowledge_if_due();
}

// Leaving

void Membership::give_up(Client& client) {
  client.given_up = true;
  changed_->notify_all();
}

void Membership::expel(std::uint32_t number, Breach breach) {
  Client* const client = find(number);
  if (client == nullptr || client->given_up) return;
  client->expelled = true;
  ++expelled_;
  last_breach_ = breach;
  host_.count(probes::client_expelled);
  give_up(*client);
}

std::uint64_t Membership::deadline_ns(const Client& client) const {
  if (client.given_up && !client.fenced) return 0;
  if (client.fenced && client.drained) return 0;
  if (client.fenced) return client.quarantined ? fabric::never_ns : client.flush_due_ns;
  if (!options_.safeguards.heartbeats) return fabric::never_ns;
  const std::uint64_t silent_ns = client.last_heard_ns + options_.heartbeat_timeout_ns;
  const std::uint64_t answer_due_ns = *std::ranges::min_element(client.answer_due_ns);
  return std::max(std::min(silent_ns, answer_due_ns), excused_until_ns_);
}

std::uint64_t Membership::next_deadline_ns() const {
  std::uint64_t earliest_ns = fabric::never_ns;
  for (const auto& [number, client] : clients_) {
    earliest_ns = std::min(earliest_ns, deadline_ns(*client));
  }
  return earliest_ns;
}

// A server that was stalled cannot tell who was silent: messages may be waiting for it, and clients
// on the same machine may have been stalled as well. All clients therefore get a new time-out that
// starts now.
void Membership::wait_until(std::uint64_t deadline_ns) {
  const fabric::CooperativeCancellation cooperative(host_);
  changed_->wait(deadline_ns);
  const std::uint64_t now_ns = host_.now_ns();
  if (now_ns <= deadline_ns) return;
  if (now_ns - deadline_ns <= options_.heartbeat_timeout_ns / lateness_divisor) return;
  host_.count(probes::server_was_late);
  excused_until_ns_ = now_ns + options_.heartbeat_timeout_ns;
}

void Membership::watch() {
  while (!host_.is_cancelled()) {
    const std::uint64_t deadline_ns = next_deadline_ns();
    if (deadline_ns > host_.now_ns()) {
      wait_until(deadline_ns);
      continue;
    }
    hear_what_has_come();  // before any client is judged silent
    std::vector<std::uint32_t> due;
    for (const auto& [number, client] : clients_) {
      if (this->deadline_ns(*client) <= host_.now_ns()) due.push_back(number);
    }
    for (const std::uint32_t number : due) act_on(*clients_.at(number));
  }
}

void Membership::act_on(Client& client) {
  if (!client.fenced) return fence(client);
  if (client.drained) return forget(client.number);
  ++flushes_overdue_;
  host_.count(probes::flush_overdue);
  if (host_.device(0).attributes().destruction_drains) return forget(client.number);
  client.quarantined = true;
  events_.on_quarantined(client.number);
}

void Membership::fence(Client& client) {
  host_.count(probes::client_fenced);
  ++fenced_;
  client.given_up = true;
  client.fenced = true;
  if (options_.safeguards.fence_before_reclaim) {
    client.queue_pair->move_to_error();
    client.flush_due_ns = host_.now_ns() + options_.flush_timeout_ns;
    events_.on_left(client.number);
  } else {
    events_.on_left(client.number);
    events_.on_gone(client.number);
    clients_.erase(client.number);
  }
}

// Destroys the client's memory registrations and, with them, its access rights.
void Membership::forget(std::uint32_t number) {
  clients_.erase(number);
  events_.on_gone(number);
}

}  // namespace falafel::engine
