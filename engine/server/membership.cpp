#include "engine/server/membership.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "engine/copy_bytes.h"
#include "engine/probes.h"

namespace falafel::engine {
namespace {

constexpr std::uint64_t receive_count = 8;
constexpr std::uint64_t send_count = 4;
constexpr std::uint64_t buffer_count = receive_count + send_count;

// Identifies a completion: the client's number and the buffer, receive buffers first.
constexpr std::uint64_t request_id(std::uint32_t client, std::uint64_t buffer) {
  return std::uint64_t{client} << 32 | buffer;
}

fabric::PrivateData to_reason(std::string_view text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

}  // namespace

// Members go in reverse order: the queue pair first, the domain last.
struct Membership::Client {
  std::uint32_t number = 0;
  std::unique_ptr<fabric::ProtectionDomain> domain;
  LocalMemory messages;
  std::unique_ptr<fabric::MemoryRegion> chunk;
  std::unique_ptr<fabric::MemoryRegion> table;
  std::map<std::uint32_t, std::unique_ptr<fabric::MemoryRegion>> regions;
  std::deque<ControlMessage> outbox;
  std::array<bool, send_count> sending{};
  std::uint64_t last_heard_ns = 0;
  std::array<std::uint64_t, question_count> answer_due_ns{};  // never_ns: no question is open
  bool given_up = false;
  bool drained = false;
  std::unique_ptr<fabric::QueuePair> queue_pair;
};

Membership::Membership(fabric::Host& host, const Chunk& chunk, const ServerOptions& options,
                       fabric::CompletionQueue& completions, MembershipEvents events)
    : host_(host),
      chunk_(chunk),
      options_(options),
      completions_(completions),
      events_(std::move(events)),
      changed_(host.create_event()) {}

Membership::~Membership() = default;

std::uint32_t Membership::completions_per_client() { return buffer_count; }

// ---------------------------------------------------------------------------------------------------
// Joining

fabric::Result<std::unique_ptr<Membership::Client>> Membership::make_client() {
  auto client = std::make_unique<Client>();
  client->domain = host_.device(0).create_protection_domain();
  auto messages =
      allocate_local_memory(host_, *client->domain, buffer_count * control_message_bytes);
  if (!messages) return tl::unexpected(messages.error());
  client->messages = std::move(*messages);
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
  return client;
}

void Membership::accept(fabric::ConnectionRequest& request) {
  const auto hello = from_bytes<ClientHello>(request.private_data());
  if (!hello || hello->magic != hello_magic) return request.reject(to_reason("not a client"));
  if (hello->version != layout_version) {
    return request.reject(to_reason(fmt::format("the server speaks version {}", layout_version)));
  }
  if (clients_.size() >= options_.max_clients) {
    return request.reject(to_reason(fmt::format("all {} clients are there", options_.max_clients)));
  }
  auto made = make_client();
  if (!made) return request.reject(to_reason("the server is out of memory"));
  Client& client = **made;
  client.number = next_number_++;
  client.last_heard_ns = host_.now_ns();
  client.answer_due_ns.fill(fabric::never_ns);
  const ServerHello answer{.chunk_key = client.chunk->remote_key(),
                           .table_key = client.table->remote_key(),
                           .chunk_bytes = chunk_.geometry.chunk_bytes(),
                           .heartbeat_timeout_ns = options_.heartbeat_timeout_ns};
  auto accepted = request.accept({.protection_domain = client.domain.get(),
                                  .send_completions = &completions_,
                                  .receive_completions = &completions_,
                                  .max_send_requests = send_count,
                                  .max_receive_requests = receive_count,
                                  .acknowledge_timeout_ns = options_.acknowledge_timeout_ns,
                                  .retry_count = options_.retry_count},
                                 to_bytes(answer));
  if (!accepted) return;
  client.queue_pair = std::move(*accepted);
  clients_[client.number] = std::move(*made);
  events_.joined(client.number);
  post_receives(client, 0, receive_count);
  changed_->notify_all();
}

bool Membership::is_connected(std::uint32_t number) const {
  const auto found = clients_.find(number);
  return found != clients_.end() && !found->second->given_up;
}

std::vector<ClientInspection> Membership::clients() const {
  const std::uint64_t now_ns = host_.now_ns();
  std::vector<ClientInspection> inspections;
  inspections.reserve(clients_.size());
  for (const auto& [number, client] : clients_) {
    inspections.push_back({.number = number,
                           .silence_ns = now_ns - client->last_heard_ns,
                           .awaited = false,
                           .leaving = client->given_up});
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

// ---------------------------------------------------------------------------------------------------
// Messages

void Membership::post_receives(Client& client, std::uint64_t first, std::uint64_t count) {
  std::array<fabric::ReceiveRequest, receive_count> chain;
  for (std::uint64_t buffer = first; buffer < first + count; ++buffer) {
    chain[buffer - first] = {.id = request_id(client.number, buffer),
                             .local = client.messages.at(buffer * control_message_bytes),
                             .length_bytes = control_message_bytes};
  }
  const auto posted = client.queue_pair->post_receive(std::span(chain).first(count));
  FALAFEL_ASSERT(posted.has_value(), "{}", posted.error().detail);
}

void Membership::send(std::uint32_t number, const ControlMessage& message) {
  const auto found = clients_.find(number);
  if (found == clients_.end() || found->second->given_up) return;
  found->second->outbox.push_back(message);
  pump(*found->second);
}

void Membership::ask(std::uint32_t number, Question question, const ControlMessage& message) {
  const auto found = clients_.find(number);
  if (found == clients_.end()) return;
  found->second->answer_due_ns[static_cast<std::size_t>(question)] =
      host_.now_ns() + options_.heartbeat_timeout_ns;
  changed_->notify_all();
  send(number, message);
}

void Membership::answered(std::uint32_t number, Question question) {
  const auto found = clients_.find(number);
  if (found == clients_.end()) return;
  found->second->answer_due_ns[static_cast<std::size_t>(question)] = fabric::never_ns;
}

void Membership::pump(Client& client) {
  for (std::uint64_t index = 0; index < send_count && !client.outbox.empty(); ++index) {
    if (client.sending[index]) continue;
    client.sending[index] = true;
    const std::uint64_t buffer = receive_count + index;
    const std::uint64_t offset = buffer * control_message_bytes;
    copy_bytes(bytes_of(client.outbox.front()),
               client.messages.bytes(offset, control_message_bytes).data());
    client.outbox.pop_front();
    fabric::WorkRequest request;
    request.id = request_id(client.number, buffer);
    request.opcode = fabric::Opcode::send;
    request.length_bytes = control_message_bytes;
    request.local = client.messages.at(offset);
    const auto posted = client.queue_pair->post_send({&request, 1});
    FALAFEL_ASSERT(posted.has_value(), "{}", posted.error().detail);
  }
}

void Membership::wait_for_completions() {
  const fabric::EndHere end_here(host_);
  completions_.wait(fabric::never_ns);
}

void Membership::receive_messages() {
  std::array<fabric::WorkCompletion, 16> batch;
  for (;;) {
    wait_for_completions();
    if (host_.is_cancelled()) return;
    const std::size_t count = completions_.poll(batch);
    for (const fabric::WorkCompletion& completion : std::span(batch).first(count)) {
      handle(completion);
    }
  }
}

void Membership::handle(const fabric::WorkCompletion& completion) {
  const auto found = clients_.find(static_cast<std::uint32_t>(completion.id >> 32));
  if (found == clients_.end()) return;  // of a client that is gone
  Client& client = *found->second;
  if (completion.status != fabric::CompletionStatus::success) {
    client.drained = client.drained || completion.status == fabric::CompletionStatus::flushed;
    give_up(client);
    return;
  }
  const std::uint64_t buffer = completion.id & 0xffff'ffff;
  if (buffer < receive_count) return handle_received(client, buffer, completion.length_bytes);
  client.sending[buffer - receive_count] = false;
  pump(client);
}

void Membership::handle_received(Client& client, std::uint64_t buffer, std::uint32_t length_bytes) {
  const auto message = from_bytes<ControlMessage>(
      client.messages.bytes(buffer * control_message_bytes, control_message_bytes));
  post_receives(client, buffer, 1);
  if (client.given_up) return;
  client.last_heard_ns = host_.now_ns();
  if (length_bytes != control_message_bytes) {
    return expel(client.number, Breach::malformed_message);
  }
  if (message->kind == MessageKind::goodbye) return give_up(client);
  events_.message(client.number, *message);
}

// ---------------------------------------------------------------------------------------------------
// Leaving

void Membership::give_up(Client& client) {
  client.given_up = true;
  changed_->notify_all();
}

void Membership::expel(std::uint32_t number, Breach breach) {
  const auto found = clients_.find(number);
  if (found == clients_.end() || found->second->given_up) return;
  ++expelled_;
  last_breach_ = breach;
  host_.count(probes::client_expelled);
  give_up(*found->second);
}

std::uint64_t Membership::deadline_ns(const Client& client) const {
  if (client.given_up) return 0;
  if (!options_.safeguards.heartbeats) return fabric::never_ns;
  return std::min(client.last_heard_ns + options_.heartbeat_timeout_ns,
                  *std::ranges::min_element(client.answer_due_ns));
}

std::uint64_t Membership::next_deadline_ns() const {
  std::uint64_t earliest_ns = fabric::never_ns;
  for (const auto& [number, client] : clients_) {
    earliest_ns = std::min(earliest_ns, deadline_ns(*client));
  }
  return earliest_ns;
}

void Membership::watch() {
  while (!host_.is_cancelled()) {
    const std::uint64_t earliest_ns = next_deadline_ns();
    if (earliest_ns > host_.now_ns()) {
      const fabric::EndHere end_here(host_);
      changed_->wait(earliest_ns);
      continue;
    }
    const auto due = std::ranges::find_if(clients_, [&](const auto& numbered) {
      return deadline_ns(*numbered.second) <= earliest_ns;
    });
    retire(due->first);
  }
}

// Fencing: when the flush has come, nothing of this client can reach the memory any more, and with its
// registrations its rights are gone too. Only then is it gone for the others.
void Membership::retire(std::uint32_t number) {
  host_.count(probes::client_fenced);
  ++fenced_;
  Client& client = *clients_.at(number);
  client.given_up = true;
  if (options_.safeguards.fence_before_reclaim) {
    retiring_ = true;
    client.queue_pair->move_to_error();
    while (!client.drained) changed_->wait(fabric::never_ns);
    clients_.erase(number);
    retiring_ = false;
    events_.gone(number);
  } else {
    events_.gone(number);
    clients_.erase(number);
  }
}

}  // namespace falafel::engine
