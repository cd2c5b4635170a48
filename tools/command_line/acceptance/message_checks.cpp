// SEND and RECV, numbers that travel with them, and receivers that are not ready.
#include <fmt/format.h>

#include "tools/command_line/acceptance/conformance.h"

namespace falafel::acceptance {
namespace {

using fabric::CompletionStatus;
using fabric::Opcode;
using fabric::WorkRequest;

constexpr std::uint64_t buffer = 4'096;  // of the receiver
constexpr std::uint64_t target = 8'192;  // of WRITEs

void post_receive(Peer& peer, const Link& link, std::uint64_t offset, std::uint64_t length) {
  peer.ask(
      {.task = Task::post_receive, .object = link.number(), .offset = offset, .length = length});
}

Received await_receive(Peer& peer, const Link& link) {
  return from_words<Received>(
      peer.ask({.task = Task::await_receive, .object = link.number()}).words);
}

std::uint64_t load(Peer& peer, std::uint64_t offset) {
  return peer.ask({.task = Task::load, .offset = offset}).words[0];
}

std::string describe(const Received& received) {
  return fmt::format(
      "{}, {} bytes{}", to_string(static_cast<Opcode>(received.opcode)), received.length_bytes,
      received.has_immediate != 0 ? fmt::format(" with the number {}", received.immediate) : "");
}

std::string message(Peer& peer) {
  const auto link = peer.connect();
  post_receive(peer, *link, buffer, 64);
  peer.memory().store(0, 21);
  link->succeed({link->send(0, 16)});
  const Received received = await_receive(peer, *link);
  demand(received.status == 0 && received.length_bytes == 16 && load(peer, buffer) == 21 &&
             static_cast<Opcode>(received.opcode) == Opcode::receive,
         describe(received));
  return describe(received);
}

std::string with_number(Peer& peer, Opcode opcode, Opcode at_receiver, std::uint64_t where) {
  const auto link = peer.connect();
  post_receive(peer, *link, buffer, 64);
  peer.memory().store(0, 22);
  WorkRequest request = link->write(0, target, 8);
  if (fabric::is_send(opcode)) request = link->send(0, 8);
  request.opcode = opcode;
  request.immediate = 1'234'567;
  link->succeed({request});
  const Received received = await_receive(peer, *link);
  demand(received.status == 0 && received.immediate == 1'234'567 &&
             static_cast<Opcode>(received.opcode) == at_receiver && load(peer, where) == 22,
         describe(received));
  return describe(received) + ", the data in memory";
}

std::string in_order(Peer& peer) {
  const auto link = peer.connect();
  for (std::uint64_t number = 0; number < 8; ++number)
    post_receive(peer, *link, buffer + 8 * number, 8);
  std::vector<WorkRequest> chain;
  for (std::uint64_t number = 0; number < 8; ++number) {
    peer.memory().store(8 * number, number + 1);
    chain.push_back(link->send(8 * number, 8));
  }
  link->succeed(chain);
  for (std::uint64_t number = 0; number < 8; ++number) {
    await_receive(peer, *link);
    const std::uint64_t word = load(peer, buffer + 8 * number);
    demand(word == number + 1, fmt::format("message {} in the place of {}", word, number + 1));
  }
  return "8 messages of one chain in order";
}

std::string waits_for_receiver(Peer& peer) {
  const auto link = peer.connect();
  link->post({link->send(0, 8)});
  const bool is_early = link->sends().wait(peer.host().now_ns() + 50 * fabric::millisecond_ns);
  demand(!is_early, "the SEND completed without a receive request");
  post_receive(peer, *link, buffer, 8);
  demand_status(link->next().status, CompletionStatus::success);
  return "the SEND completes after the receive request was posted";
}

std::string receiver_never_ready(Peer& peer) {
  const auto link = peer.connect({.receiver_not_ready_retry_count = 1});
  demand_status(link->status_of(link->send(0, 8)), CompletionStatus::receiver_not_ready_exceeded);
  demand_status(link->status_of(link->read(0, 0, 8)), CompletionStatus::flushed);
  return "receiver not ready; the next request is flushed";
}

std::string too_long(Peer& peer) {
  const auto link = peer.connect();
  post_receive(peer, *link, buffer, 8);
  demand_status(link->status_of(link->send(0, 64)), CompletionStatus::remote_invalid_request_error);
  const Received received = await_receive(peer, *link);
  const auto status = static_cast<CompletionStatus>(received.status);
  demand(status == CompletionStatus::local_length_error,
         fmt::format("the receiver completed with: {}", to_string(status)));
  return "remote invalid request; at the receiver a local length error";
}

}  // namespace

std::vector<Check> message_checks() {
  return {
      {"SEND and RECV", "contract: receive", "the message with its length", message},
      {"SEND with immediate", "contract: immediate", "the message and its number",
       [](Peer& peer) {
         return with_number(peer, Opcode::send_with_immediate, Opcode::receive, buffer);
       }},
      {"WRITE with immediate", "contract: receive_of_write", "the number, with all data in memory",
       [](Peer& peer) {
         return with_number(peer, Opcode::write_with_immediate, Opcode::receive_of_write, target);
       }},
      {"SENDs in one chain", "rule 5", "they arrive in order", in_order},
      {"SEND before its receive request, 7 retries", "rule 23", "waits", waits_for_receiver},
      {"SEND without a receive request, 1 retry", "rule 23", "receiver not ready, then flushes",
       receiver_never_ready},
      {"SEND longer than the receive buffer", "contract: status", "an error on both sides",
       too_long},
  };
}

}  // namespace falafel::acceptance
