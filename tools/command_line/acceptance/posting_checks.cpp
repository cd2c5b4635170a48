// Requests that posting refuses, completions, and connections that are refused.
#include <fmt/format.h>

#include "tools/command_line/acceptance/conformance.h"

namespace falafel::acceptance {
namespace {

using fabric::CompletionStatus;
using fabric::ErrorCode;
using fabric::WorkRequest;

std::string unsignalled_and_order(Peer& peer) {
  const auto link = peer.connect();
  std::vector<WorkRequest> chain;
  for (std::uint64_t id = 1; id <= 9; ++id) {
    WorkRequest request =
        id % 2 == 0 ? link->write(0, remote_place, 8) : link->read(8, remote_place, 8);
    request.id = id;
    request.signalled = id % 3 == 0;
    chain.push_back(request);
  }
  link->post(chain);
  for (const std::uint64_t id : {3U, 6U, 9U}) {
    const fabric::WorkCompletion completion = link->next();
    demand_status(completion.status, CompletionStatus::success);
    demand(completion.id == id, fmt::format("completion {} instead of {}", completion.id, id));
  }
  demand(!link->sends().wait(peer.host().now_ns() + 20 * fabric::millisecond_ns),
         "an unsignalled request has a completion");
  return "the signalled ones complete, in order";
}

std::string full_queue(Peer& peer) {
  const auto link = peer.connect();
  const std::vector<WorkRequest> chain(most_link_requests + 1, link->read(0, remote_place, 8));
  demand_error(link->queue_pair().post_send(chain), ErrorCode::queue_full);
  link->succeed({link->read(0, remote_place, 8)});
  return "queue full; nothing of the chain was posted";
}

std::string refused_locally(Peer& peer, const std::function<void(WorkRequest&)>& spoil,
                            ErrorCode expected) {
  const auto link = peer.connect();
  WorkRequest request = link->write(0, remote_place, 8);
  spoil(request);
  demand_error(link->queue_pair().post_send({&request, 1}), expected);
  link->succeed({link->read(0, remote_place, 8)});
  return fmt::format("refused when posted ({}); the connection goes on", to_string(expected));
}

std::string read_only_buffer(Peer& peer) {
  const auto region = must(peer.domain().register_memory(
      std::shared_ptr<fabric::MemoryBlock>(must(peer.host().allocate_memory(4'096))), 0, 4'096,
      {}));
  const auto link = peer.connect();
  WorkRequest request = link->read(0, remote_place, 8);
  request.local = {region->local_key(), 0};
  demand_error(link->queue_pair().post_send({&request, 1}), ErrorCode::access_denied);
  return "refused when posted (access denied)";
}

std::string nobody_listens(Peer& peer) {
  const auto completions = must(peer.device().create_completion_queue(64));
  const auto connection = peer.device().connect(
      {.host = peer.server(), .service = static_cast<std::uint16_t>(link_service + 99)},
      {.protection_domain = &peer.domain(),
       .send_completions = completions.get(),
       .receive_completions = completions.get()},
      {}, peer.host().now_ns() + patience_ns);
  demand(!connection, "connected");
  demand(connection.error().code == ErrorCode::connection_refused,
         std::string(to_string(connection.error().code)));
  return "connection refused";
}

std::string rejected(Peer& peer) {
  const auto completions = must(peer.device().create_completion_queue(64));
  const auto connection = peer.device().connect({.host = peer.server(), .service = link_service},
                                                {.protection_domain = &peer.domain(),
                                                 .send_completions = completions.get(),
                                                 .receive_completions = completions.get()},
                                                to_bytes(LinkHello{.session = peer.session() + 1}),
                                                peer.host().now_ns() + patience_ns);
  demand(!connection, "connected");
  demand(connection.error().code == ErrorCode::connection_refused,
         std::string(to_string(connection.error().code)));
  return "connection refused";
}

std::string unreliable(Peer& peer) {
  if (!peer.device().attributes().supports_unreliable_connection)
    throw NotTried{"this backend has no unreliable connections"};
  const auto link = peer.connect({.transport = fabric::Transport::unreliable_connection});
  for (const WorkRequest& request :
       {link->read(0, remote_place, 8), link->add(0, remote_place, 1)}) {
    demand_error(link->queue_pair().post_send({&request, 1}), ErrorCode::unsupported);
  }
  const WorkRequest fenced_write = fenced(link->write(0, remote_place, 8));
  demand_error(link->queue_pair().post_send({&fenced_write, 1}), ErrorCode::invalid_argument);
  demand_status(link->status_of(link->write(0, remote_place, 8)), CompletionStatus::success);
  return "READ, FETCH_ADD and fence refused when posted; a WRITE succeeds";
}

}  // namespace

std::vector<Check> posting_checks() {
  return {
      {"signalled and unsignalled requests", "rule 10",
       "completions of the signalled ones, in order", unsignalled_and_order},
      {"a chain longer than the queue", "contract: queue_full", "refused as a whole", full_queue},
      {"buffer beyond its memory", "rule 26", "out of bounds, when posted",
       [](Peer& peer) {
         return refused_locally(
             peer, [](WorkRequest& request) { request.local.offset = session_bytes - 4; },
             ErrorCode::out_of_bounds);
       }},
      {"buffer with an unknown local key", "rule 26", "access denied, when posted",
       [](Peer& peer) {
         return refused_locally(
             peer, [](WorkRequest& request) { request.local.key ^= 0x5a5a5a5a; },
             ErrorCode::access_denied);
       }},
      {"READ to a buffer without the right of local writes", "rule 26",
       "access denied, when posted", read_only_buffer},
      {"connection to a service that nobody serves", "contract: connect", "refused",
       nobody_listens},
      {"connection that the listener rejects", "contract: connect", "refused", rejected},
      {"requests that an unreliable connection does not have", "rules 7, 24", "refused when posted",
       unreliable},
  };
}

}  // namespace falafel::acceptance
