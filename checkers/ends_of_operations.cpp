#include "checkers/ends_of_operations.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

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
  last_posted_.clear();
  ended_up_to_.clear();
  std::erase_if(pending_, [&](const auto& pending) { return is_lost(pending.second.connection); });
}

// A client may call operations on a connection that it does not know to be lost.
bool EndsOfOperations::is_lost(std::uint32_t connection) const {
  return connection <= lost_up_to_ || lost_.contains(connection);
}

void EndsOfOperations::on_asked(std::uint64_t fiber) {
  Question& question = questions_[fiber];
  question = {.pending = {}, .last_posted = last_posted_};
  for (const auto& [other, pending] : pending_) question.pending.insert(pending.call_time);
}

void EndsOfOperations::on_told(std::uint64_t fiber, std::uint64_t step) {
  const Question question = questions_[fiber];
  questions_.erase(fiber);
  for (const auto& [connection, place] : question.last_posted) {
    if (connection <= lost_up_to_) continue;
    const auto [ended, is_new] = ended_up_to_.emplace(connection, place);
    if (!is_new) ended->second = std::max(ended->second, place);
  }
  for (const auto& [other, pending] : pending_) {
    if (!question.pending.contains(pending.call_time)) continue;
    fail("end.operation-left",
         fmt::format("step {}: the server said that all operations from before the question have "
                     "ended, but one of client {} that began before is pending",
                     step, pending.client),
         {pending.call_time}, step);
  }
}

void EndsOfOperations::on_landed(std::uint32_t connection, std::uint64_t place,
                                 std::uint64_t step) {
  const auto ended = ended_up_to_.find(connection);
  if (ended == ended_up_to_.end() || place > ended->second) return;
  fail("end.landed-later",
       fmt::format("step {}: a request on queue pair {} changed memory, although it was posted "
                   "before a question, and the server has said that all operations from before "
                   "this question have ended",
                   step, connection),
       {}, step);
}

void EndsOfOperations::fail(std::string property, std::string explanation,
                            std::vector<std::uint64_t> calls, std::uint64_t step) {
  if (judgement_.verdict != Verdict::holds) return;
  judgement_ = {.verdict = Verdict::violated,
                .property = std::move(property),
                .explanation = std::move(explanation),
                .calls = std::move(calls),
                .step = step};
}

}  // namespace falafel::checkers
