#include "tools/scenarios/store/grant_watch.h"

#include <algorithm>
#include <utility>

#include "checkers/memory_view.h"
#include "tools/scenarios/store/parties.h"

namespace falafel::store_scenario {

using engine::ControlMessage;
using engine::MessageKind;
using engine::RegionState;

GrantWatch::GrantWatch(const Scenario& scenario, const StoreWorld& world)
    : scenario_(scenario),
      world_(world),
      is_judged_(scenario.safeguards == engine::Safeguards::hardened()),
      grants_(scenario.keeps_overwrite_reserve) {}

void GrantWatch::introduce(const sim::Subject& subject) {
  if (!is_judged_) return;
  if (subject.kind == sim::SubjectKind::queue_pair && Parties::is_client_host(subject.host)) {
    clients_[subject.number];
    newest_of_host_[std::string(subject.host)] = subject.number;
  }
  if (subject.kind != sim::SubjectKind::fiber) return;
  if (subject.host == Parties::server_host) {
    fibers_[subject.number] = {.is_of_server = true, .grants_regions = subject.name == "grants"};
  }
  const auto newest = newest_of_host_.find(subject.host);
  if (subject.name == "messages in" && newest != newest_of_host_.end()) {
    fibers_[subject.number] = {.queue_pair = newest->second};
  }
}

void GrantWatch::observe(const sim::TraceEvent& event) {
  if (!is_judged_) return;
  switch (event.kind) {
    case sim::EventKind::request_posted:
      if (event.detail == static_cast<std::uint8_t>(fabric::Opcode::send)) on_posted(event);
      return;
    case sim::EventKind::message_delivered: return on_delivered(event);
    case sim::EventKind::fiber_runs: return on_fiber_runs(event);
    case sim::EventKind::queue_pair_error:
      on_error(event.subject);
      if (const auto peer = world_.peer_of(event.subject)) on_error(*peer);
      return;
    case sim::EventKind::fault:
      if (static_cast<sim::FaultKind>(event.detail) != sim::FaultKind::registration_failure) return;
      for (auto& [queue_pair, client] : clients_) client.lacked_registration = true;
      return;
    case sim::EventKind::host_died:
      if (event.subject != StoreWorld::server_host) return;
      clients_.clear();
      grants_.on_server_died();
      counts_ = {};
      is_ask_waiting_ = false;
      continues_to_ask_ = false;
      return;
    default: return;
  }
}

void GrantWatch::on_error(std::uint32_t queue_pair) {
  if (clients_.erase(queue_pair) > 0) grants_.on_left(queue_pair);
}

// Messages

void GrantWatch::on_posted(const sim::TraceEvent& event) {
  if (const auto found = clients_.find(event.subject); found != clients_.end()) {
    return on_posted_by_client(found->first, found->second, event);
  }
  on_posted_by_server(event);
}

void GrantWatch::on_posted_by_client(std::uint32_t queue_pair, Client& client,
                                     const sim::TraceEvent& event) {
  if (client.operations == 0 && !client.has_new_question) ++client.idle_messages;
  const Operation* const set = oldest_set(queue_pair);
  client.in_flight.push_back({.place = event.place,
                              .freed_ns = set == nullptr ? std::nullopt : set->freed_ns,
                              .idle_messages = client.idle_messages});
}

// The server counts a decision just before it posts the message, unless it has to wait for a buffer
// in between. Only then do its books still say why it decided so. If the connection is broken, it
// counts the decision and posts nothing: then the next message is for another client, so what it
// says is read when it arrives.
void GrantWatch::on_posted_by_server(const sim::TraceEvent& event) {
  if (world_.server() == nullptr) return;
  const Counts next = counts_of(world_.server()->books());
  const auto peer = world_.peer_of(event.subject);
  if (next.asked != counts_.asked && !continues_to_ask_) judge_question(event.step);
  const auto client = peer ? clients_.find(*peer) : clients_.end();
  if (client != clients_.end()) note_decision(client->second, next, event);
  counts_ = next;
  const auto running = fibers_.find(*world_.running_fiber());
  if (is_ask_waiting_ && running != fibers_.end() && running->second.grants_regions) {
    is_ask_waiting_ = false;
    continues_to_ask_ = true;
  }
}

// Only the server's own fibers change its books.
void GrantWatch::on_fiber_runs(const sim::TraceEvent& event) {
  const auto found = fibers_.find(event.subject);
  const Fiber fiber = found == fibers_.end() ? Fiber() : found->second;
  const bool server_ran = std::exchange(is_server_running_, fiber.is_of_server);
  if (fiber.grants_regions) continues_to_ask_ = false;
  if (found != fibers_.end() && !fiber.is_of_server) {
    const auto client = clients_.find(fiber.queue_pair);
    if (client != clients_.end()) client->second.has_new_question = false;
  }
  if (!server_ran || world_.server() == nullptr) return;
  const Counts next = counts_of(world_.server()->books());
  is_ask_waiting_ = is_ask_waiting_ || next.asked != counts_.asked;
  counts_ = next;
}

void GrantWatch::note_decision(Client& client, const Counts& next, const sim::TraceEvent& event) {
  const engine::ServerBooks books = world_.server()->books();
  if (next.granted == counts_.granted + 1) grants_.on_granted(view_of(books), event.step);
  const bool is_any_free =
      std::ranges::find(books.regions, RegionState::free, &engine::RegionInspection::state) !=
      books.regions.end();
  const bool is_for_lack_of_room = is_any_free && !client.lacked_registration;
  if (next.denied != counts_.denied + 1 || !is_for_lack_of_room || !books.measured) return;
  client.denials.push_back(
      {.place = event.place, .measured_ns = books.measured->began_ns, .step = event.step});
}

void GrantWatch::judge_question(std::uint64_t step) {
  const std::vector<engine::ClientInspection> clients = world_.server()->inspect().clients;
  const bool is_leaving = std::ranges::any_of(clients, [](const engine::ClientInspection& client) {
    return client.leaving && !client.quarantined;
  });
  grants_.on_decided_to_ask(view_of(world_.server()->books()), is_leaving, step);
}

void GrantWatch::on_delivered(const sim::TraceEvent& event) {
  if (const auto found = clients_.find(event.subject); found != clients_.end()) {
    return on_delivered_to_server(found->first, found->second, event);
  }
  const auto peer = world_.peer_of(event.subject);
  const auto found = peer ? clients_.find(*peer) : clients_.end();
  const auto message = engine::from_bytes<ControlMessage>(event.data);
  if (found != clients_.end() && message) {
    on_delivered_to_client(found->first, found->second, event.place, *message);
  }
}

void GrantWatch::on_delivered_to_server(std::uint32_t queue_pair, Client& client,
                                        const sim::TraceEvent& event) {
  const auto found = std::ranges::find(client.in_flight, event.place, &Sent::place);
  const auto message = engine::from_bytes<ControlMessage>(event.data);
  if (found == client.in_flight.end() || !message) return;
  const Sent sent = *found;
  client.in_flight.erase(found);
  switch (message->kind) {
    case MessageKind::request_region:
      client.lacked_registration = false;
      return grants_.on_requested(
          queue_pair, {.is_for_overwrite = message->need == engine::RegionNeed::overwrite,
                       .freed_ns = sent.freed_ns});
    case MessageKind::report_freed: return;
    case MessageKind::release_region: return grants_.on_released(queue_pair, message->incarnation);
    case MessageKind::goodbye: return on_error(queue_pair);
    default: return grants_.on_message(queue_pair, sent.idle_messages, event.step);
  }
}

const GrantWatch::Operation* GrantWatch::oldest_set(std::uint32_t queue_pair) const {
  const Operation* oldest = nullptr;
  for (const auto& [fiber, operation] : operations_) {
    if (operation.queue_pair != queue_pair || !operation.stores_value) continue;
    if (oldest == nullptr || operation.called_ns < oldest->called_ns) oldest = &operation;
  }
  return oldest;
}

void GrantWatch::on_delivered_to_client(std::uint32_t queue_pair, Client& client,
                                        std::uint64_t place, const ControlMessage& message) {
  const auto denial = std::ranges::find(client.denials, place, &Denial::place);
  if (denial != client.denials.end()) {
    const Denial noted = *denial;
    client.denials.erase(denial);
    if (message.kind == MessageKind::deny_region) {
      grants_.on_denied(queue_pair, noted.measured_ns, noted.step);
    }
  }
  if (message.kind == MessageKind::grant_region) {
    return grants_.on_region(queue_pair, message.incarnation);
  }
  if (message.kind != MessageKind::return_regions) return;
  client.has_new_question = true;
  client.idle_messages = 0;
  for (Sent& sent : client.in_flight) sent.idle_messages = 0;
  grants_.on_question(queue_pair, message.incarnation);
}

checkers::MemoryView GrantWatch::view_of(const engine::ServerBooks& books) const {
  return {.geometry = scenario_.geometry,
          .hash_key = scenario_.hash_key,
          .chunk = {},
          .regions = books.regions,
          .mature_spaces = books.mature_spaces};
}

GrantWatch::Counts GrantWatch::counts_of(const engine::ServerBooks& books) const {
  return {.denied = books.requests_denied + books.overwrites_denied,
          .granted = books.regions_granted,
          .asked = books.regions_asked_back};
}

// Operations

void GrantWatch::on_operation_called(fabric::FiberId fiber, std::uint32_t queue_pair,
                                     const checkers::Operation& operation, std::uint64_t time_ns) {
  const auto found = clients_.find(queue_pair);
  if (found == clients_.end()) return;
  operations_[fiber] = {.queue_pair = queue_pair,
                        .called_ns = time_ns,
                        .stores_value = checkers::stores_value(operation.kind),
                        .freed_ns = found->second.freed_ns};
  ++found->second.operations;
  found->second.idle_messages = 0;
}

void GrantWatch::on_operation_returned(fabric::FiberId fiber, engine::Answer answer) {
  const auto found = operations_.find(fiber);
  if (found == operations_.end()) return;
  const Operation& operation = found->second;
  const auto client = clients_.find(operation.queue_pair);
  if (client != clients_.end() && answer == engine::Answer::deleted) {
    std::optional<std::uint64_t>& freed_ns = client->second.freed_ns;
    freed_ns = std::max(freed_ns.value_or(0), operation.called_ns);
  }
  on_operation_abandoned(fiber);
}

void GrantWatch::on_operation_abandoned(fabric::FiberId fiber) {
  const auto operation = operations_.find(fiber);
  if (operation == operations_.end()) return;
  const auto client = clients_.find(operation->second.queue_pair);
  if (client != clients_.end()) --client->second.operations;
  operations_.erase(operation);
}

}  // namespace falafel::store_scenario
