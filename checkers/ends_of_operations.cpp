#include "checkers/ends_of_operations.h"

#include <fmt/format.h>

namespace falafel::checkers {

void EndsOfOperations::on_called(std::uint64_t fiber, std::uint32_t connection,
                                 const Operation& operation) {
  if (is_lost(connection)) return;
  pending_[fiber] = {connection, operation.client, operation.call_time};
}

void EndsOfOperations::on_ended(std::uint64_t fiber) { pending_.erase(fiber); }

void EndsOfOperations::on_connection_lost(std::uint32_t connection) {
  lost_.insert(connection);
  std::erase_if(pending_, [&](const auto& pending) { return is_lost(pending.second.connection); });
}

void EndsOfOperations::on_server_died(std::uint32_t newest_connection) {
  lost_up_to_ = newest_connection;
  std::erase_if(pending_, [&](const auto& pending) { return is_lost(pending.second.connection); });
}

// A client may call operations on a connection that it does not know to be lost.
bool EndsOfOperations::is_lost(std::uint32_t connection) const {
  return connection <= lost_up_to_ || lost_.contains(connection);
}

void EndsOfOperations::on_asked(std::uint64_t fiber) {
  std::set<std::uint64_t>& before = questions_[fiber];
  before.clear();
  for (const auto& [other, pending] : pending_) before.insert(pending.call_time);
}

void EndsOfOperations::on_told(std::uint64_t fiber, std::uint64_t step) {
  const std::set<std::uint64_t> before = questions_[fiber];
  questions_.erase(fiber);
  for (const auto& [other, pending] : pending_) {
    if (!before.contains(pending.call_time) || judgement_.verdict != Verdict::holds) continue;
    judgement_ = {.verdict = Verdict::violated,
                  .property = "end.operation-left",
                  .explanation = fmt::format(
                      "step {}: the server said that all operations from before the question have "
                      "ended, but one of client {} that began before is pending",
                      step, pending.client),
                  .calls = {pending.call_time},
                  .step = step};
  }
}

}  // namespace falafel::checkers
