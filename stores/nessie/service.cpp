#include "stores/nessie/service.h"

#include <algorithm>
#include <array>
#include <utility>

#include "fabric/cooperative_cancellation.h"

namespace falafel::nessie {

using stores::Answer;

namespace {

// Fibers look for completions in turn, and the one that polls a completion may not be the one that
// waits for it.
constexpr std::uint64_t completion_wait_ns = 10'000;

}  // namespace

Service::Service(fabric::Host& host, std::weak_ptr<const void> owner,
                 std::unique_ptr<ServedTable> table, const Options& options)
    : host_(host),
      owner_(std::move(owner)),
      options_(options),
      layout_(options),
      table_(std::move(table)),
      workers_(host, options.server_workers),
      statistics_(std::make_shared<ServiceStatistics>()) {}

fabric::Result<std::unique_ptr<Service>> Service::create(fabric::Host& host,
                                                         std::weak_ptr<const void> owner,
                                                         fabric::ProtectionDomain& domain,
                                                         std::unique_ptr<ServedTable> table,
                                                         const Options& options) {
  std::unique_ptr<Service> service(new Service(host, std::move(owner), std::move(table), options));
  if (auto opened = service->open(domain); !opened) return tl::unexpected(opened.error());
  return service;
}

fabric::Result<void> Service::open(fabric::ProtectionDomain& domain) {
  const std::uint64_t size_bytes = options_.most_clients * layout_.slot_bytes();
  auto requests = stores::RegisteredMemory::create(host_, domain, size_bytes,
                                                   {.local_write = true, .remote_write = true});
  if (!requests) return tl::unexpected(requests.error());
  auto responses = stores::RegisteredMemory::create(host_, domain, size_bytes, {});
  if (!responses) return tl::unexpected(responses.error());
  requests_ = std::move(*requests);
  responses_ = std::move(*responses);
  return {};
}

void Service::stop() {
  for (const auto& session : sessions_) {
    if (session->fiber) host_.cancel(*session->fiber);
  }
}

// -------------------------------------------------------------------------------------------------
// Clients

Service::Place Service::place_of(std::uint32_t slot) const {
  return {.slot = slot, .region = requests_.block, .offset = slot * layout_.slot_bytes()};
}

std::optional<std::uint32_t> Service::session_of(const ClientHello& client) {
  const auto known = std::ranges::find_if(sessions_, [&client](const auto& session) {
    return session->local_responses == nullptr && session->client.client == client.client;
  });
  if (known != sessions_.end()) {
    return static_cast<std::uint32_t>(known - sessions_.begin());
  }
  if (sessions_.size() == options_.most_clients) return std::nullopt;
  const auto slot = static_cast<std::uint32_t>(sessions_.size());
  auto session = std::make_unique<Session>();
  session->requests =
      std::make_unique<MessageSlot>(host_, requests_.block, place_of(slot).offset, options_);
  sessions_.push_back(std::move(session));
  return slot;
}

std::optional<Service::Place> Service::admit(const ClientHello& client) {
  const auto slot = session_of(client);
  if (!slot) return std::nullopt;
  Session& session = *sessions_[*slot];
  // Late parts of earlier requests must not fall into later ones.
  if (session.port != nullptr && !fence(*session.port)) return std::nullopt;
  auto completions = host_.device(0).create_completion_queue(2 * most_requests);
  if (!completions) return std::nullopt;
  session.client = client;
  session.port = std::make_shared<Port>();
  session.port->completions = std::move(*completions);
  return place_of(*slot);
}

fabric::CompletionQueue* Service::completions(const Place& place) {
  return sessions_[place.slot]->port->completions.get();
}

void Service::attach(const Place& place, std::unique_ptr<fabric::QueuePair> queue_pair) {
  sessions_[place.slot]->port->queue_pair = std::move(queue_pair);
  spawn(place.slot);
}

std::optional<Service::Place> Service::admit_local(std::shared_ptr<fabric::MemoryBlock> responses,
                                                   std::uint64_t offset) {
  const auto slot = session_of({.client = host_.random(0)});
  if (!slot) return std::nullopt;
  Session& session = *sessions_[*slot];
  session.client.response_offset = offset;
  session.local_responses = std::move(responses);
  spawn(*slot);
  return place_of(*slot);
}

void Service::spawn(std::uint32_t slot) {
  if (sessions_[slot]->fiber) return;
  sessions_[slot]->fiber = host_.spawn({.name = "slot " + std::to_string(slot), .daemon = true},
                                       [this, owner = owner_.lock(), slot] { serve(slot); });
}

// Returns whether no request of the client can arrive over the connection any more.
bool Service::fence(Port& port) {
  if (port.queue_pair == nullptr) return true;
  port.queue_pair->move_to_error();
  const fabric::WorkRequest flushed{.opcode = fabric::Opcode::write};
  if (!port.queue_pair->post_send(std::span(&flushed, 1))) return false;
  ++port.posted;
  wait_for_completions(port, host_.now_ns() + options_.acknowledge_timeout_ns);
  return port.completed == port.posted;
}

void Service::wait_for_completions(Port& port, std::uint64_t deadline_ns) {
  std::array<fabric::WorkCompletion, most_requests> polled{};
  while (port.completed < port.posted) {
    port.completed += port.completions->poll(polled);
    const std::uint64_t now_ns = host_.now_ns();
    if (port.completed == port.posted || now_ns >= deadline_ns) return;
    port.completions->wait(std::min(deadline_ns, now_ns + completion_wait_ns));
  }
}

// -------------------------------------------------------------------------------------------------
// Workers

void Service::serve(std::uint32_t slot) {
  MessageSlot& requests = *sessions_[slot]->requests;
  while (!host_.is_cancelled()) {
    const std::uint64_t incomplete_before = requests.incomplete_looks();
    std::optional<Message> request;
    {
      const fabric::CooperativeCancellation cooperative(host_);
      request = requests.receive(fabric::never_ns);
    }
    statistics_->incomplete_looks += requests.incomplete_looks() - incomplete_before;
    if (!request) return;
    LockHolder turn(workers_);
    turn.lock({slot % options_.server_workers});
    ++statistics_->busy;
    respond(slot, carry_out(*request));
    --statistics_->busy;
    ++statistics_->requests;
    statistics_->moves = table_->moves();
    statistics_->lock_waits = table_->lock_waits() + workers_.waits();
  }
}

Message Service::carry_out(const Message& request) {
  host_.spend(fabric::Work::operation, 0);
  Message response{.sequence = request.sequence};
  Answer answer = Answer::invalid_key;
  switch (static_cast<RequestKind>(request.kind)) {
    case RequestKind::get: {
      auto value = table_->get(request.key);
      answer = value ? Answer::found : Answer::not_found;
      if (value) response.value = std::move(*value);
      break;
    }
    case RequestKind::put: answer = table_->put(request.key, request.value); break;
    case RequestKind::remove: answer = table_->remove(request.key); break;
  }
  response.kind = static_cast<std::uint8_t>(answer);
  return response;
}

// A response that fails is lost with its connection. The client connects again, or times out.
void Service::respond(std::uint32_t slot, const Message& response) {
  const Session& session = *sessions_[slot];
  const Bytes bytes = layout_.encode(response, options_.arrival);
  host_.spend(fabric::Work::copy, bytes.size());
  if (options_.arrival == Arrival::checksum) host_.spend(fabric::Work::checksum, bytes.size());
  if (session.local_responses != nullptr) {
    return store_message(*session.local_responses, session.client.response_offset, bytes,
                         options_.arrival);
  }
  const std::shared_ptr<Port> port = session.port;
  const ClientHello client = session.client;
  wait_for_completions(*port, fabric::never_ns);
  if (port->queue_pair == nullptr) return;
  const std::uint64_t offset = slot * layout_.slot_bytes();
  responses_.block->write(offset, bytes);
  const MessageWrites writes(options_.arrival, bytes.size(),
                             {.key = responses_.region->local_key(), .offset = offset},
                             {.key = client.response_key, .offset = client.response_offset});
  if (port->queue_pair->post_send(writes.chain())) port->posted += writes.chain().size();
}

}  // namespace falafel::nessie
