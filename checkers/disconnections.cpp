#include "checkers/disconnections.h"

#include <fmt/format.h>

namespace falafel::checkers {

Disconnections::Connection& Disconnections::at(std::uint32_t queue_pair) {
  if (queue_pair >= connections_.size()) connections_.resize(queue_pair + 1);
  return connections_[queue_pair];
}

void Disconnections::on_disconnected(std::uint32_t queue_pair, const Operation& operation,
                                     std::uint64_t step) {
  const Connection& connection = at(queue_pair);
  const bool broke_for_a_reason = connection.is_broken && connection.has_reason;
  if (broke_for_a_reason || judgement_.verdict != Verdict::holds) return;
  judgement_ = {
      .verdict = Verdict::violated,
      .property = "refusal.disconnected",
      .explanation = fmt::format(
          "step {}: the {} of {} by client {} answered that the connection is broken, but {}", step,
          to_string(operation.kind), quote(operation.key), operation.client,
          connection.is_broken ? "neither a fault nor one of its sides broke it"
                               : "it is not broken"),
      .calls = {operation.call_time},
      .step = step};
}

}  // namespace falafel::checkers
