#include "tools/scenarios/store/quiescence_watch.h"

#include <optional>

#include "engine/layout/control_message.h"
#include "tools/scenarios/store/parties.h"

namespace falafel::store_scenario {

using engine::ControlMessage;
using engine::MessageKind;

QuiescenceWatch::QuiescenceWatch(const Scenario& scenario, const StoreWorld& world)
    : scenario_(scenario),
      world_(world),
      is_judged_(scenario.safeguards == engine::Safeguards::hardened()) {}

void QuiescenceWatch::introduce(const sim::Subject& subject) {
  if (!is_judged_ || subject.kind != sim::SubjectKind::queue_pair) return;
  if (Parties::is_client_host(subject.host)) clients_.insert(subject.number);
}

void QuiescenceWatch::observe(const sim::TraceEvent& event) {
  if (!is_judged_) return;
  switch (event.kind) {
    case sim::EventKind::request_posted: return on_posted(event);
    case sim::EventKind::message_delivered: return on_delivered(event);
    case sim::EventKind::queue_pair_error:
      if (clients_.erase(event.subject) > 0) quiescence_.on_left(event.subject);
      return;
    default: return;
  }
}

// An operation begins when its own fiber posts a request.
void QuiescenceWatch::on_posted(const sim::TraceEvent& event) {
  if (!clients_.contains(event.subject)) return;
  if (event.detail == static_cast<std::uint8_t>(fabric::Opcode::send)) {
    return quiescence_.on_sent(event.subject, event.place);
  }
  const auto called = gets_.find(*world_.running_fiber());
  if (called == gets_.end() || called->second.queue_pair != event.subject) return;
  quiescence_.on_began(called->second.number, event.subject);
}

void QuiescenceWatch::on_delivered(const sim::TraceEvent& event) {
  const auto message = engine::from_bytes<ControlMessage>(event.data);
  if (clients_.contains(event.subject)) {
    const bool is_answer = message && message->kind == MessageKind::heartbeat;
    return quiescence_.on_arrived(event.subject, event.place,
                                  is_answer ? std::optional(message->epoch) : std::nullopt,
                                  event.step);
  }
  const auto peer = world_.peer_of(event.subject);
  if (!peer || !clients_.contains(*peer) || !message) return;
  if (message->kind == MessageKind::ask_for_quiescence) {
    quiescence_.on_question(*peer, message->epoch);
  }
}

// The other operations give up their age while they wait for memory. In a batch, a fiber also posts
// the requests of others, before its own operation begins.
void QuiescenceWatch::on_operation_called(fabric::FiberId fiber, std::uint32_t queue_pair,
                                          const checkers::Operation& operation) {
  const bool is_judged = operation.kind == checkers::OperationKind::get ||
                         operation.kind == checkers::OperationKind::remove;
  if (!is_judged || scenario_.clients[operation.client].batch > 1) return;
  gets_[fiber] = {.queue_pair = queue_pair, .number = next_number_++};
}

void QuiescenceWatch::on_operation_returned(fabric::FiberId fiber, const OperationResult& result,
                                            std::uint64_t step) {
  const auto called = gets_.find(fiber);
  if (called == gets_.end()) return;
  quiescence_.on_returned(called->second.number, result.statistics.restarts > 0, step);
  gets_.erase(called);
}

void QuiescenceWatch::on_operation_abandoned(fabric::FiberId fiber) {
  const auto called = gets_.find(fiber);
  if (called == gets_.end()) return;
  quiescence_.on_abandoned(called->second.number);
  gets_.erase(called);
}

}  // namespace falafel::store_scenario
