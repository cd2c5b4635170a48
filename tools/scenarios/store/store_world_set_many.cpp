// Several SETs of a client as one call of set_many().
#include <fmt/format.h>

#include <map>

#include "fabric/at_end.h"
#include "tools/scenarios/store/cancellation.h"
#include "tools/scenarios/store/store_world.h"

namespace falafel::store_scenario {

using engine::Answer;

std::optional<Answer> StoreWorld::execute_many(fabric::Host& host, std::uint32_t client,
                                               std::size_t first, std::size_t count,
                                               engine::Client& connection) {
  const ClientPlan& plan = scenario_.clients[client];
  std::vector<std::string> keys;
  std::vector<std::string> values;
  for (std::size_t index = first; index < first + count; ++index) {
    keys.push_back(key_name(plan.operations[index].key));
    values.push_back(value_of(plan.operations[index], fmt::format("{}.{}", client, index)));
  }
  std::vector<engine::KeyAndValue> pairs;
  for (std::size_t number = 0; number < count; ++number) {
    pairs.push_back({.key = std::as_bytes(std::span(keys[number])),
                     .value = std::as_bytes(std::span(values[number])),
                     .time_to_live_ns = plan.operations[first + number].time_to_live_ns});
  }
  std::optional<Answer> broken;
  call_unless_cancelled(host, plan.operations[first].cancel_after_ns,
                        [&] { broken = call_set_many(host, client, first, pairs, connection); });
  return broken;
}

// Returns the answer of a SET that found the connection broken, or that of the last one.
Answer StoreWorld::call_set_many(fabric::Host& host, std::uint32_t client, std::size_t first,
                                 std::span<const engine::KeyAndValue> pairs,
                                 engine::Client& connection) {
  const std::uint64_t incarnation = connection.server_incarnation();
  std::map<std::uint64_t, fabric::FiberId> fibers;
  SetManyCalls& calls = set_many_[client];
  calls.begin_call(
      [&](std::size_t index) {
        const PlannedOperation& planned = scenario_.clients[client].operations[first + index];
        const std::size_t operation = histories_[incarnation].call(
            next_call_time(), client, checkers::OperationKind::set, key_name(planned.key),
            value_of(planned, fmt::format("{}.{}", client, first + index)));
        fibers[operation + 1] =
            begin_operation(host, operation, planned.time_to_live_ns, incarnation);
        return operation + 1;
      },
      [this, &host, incarnation](std::uint64_t number, Answer answer,
                                 const engine::OperationStatistics& statistics) {
        end_operation(host, number - 1, {answer, statistics, {}}, incarnation);
      });
  const fabric::AtEnd over([&] {
    for (const std::uint64_t number : calls.end_call()) {
      abandon_operation(client, fibers.at(number));
    }
  });
  const std::vector<engine::SetResult> results = connection.set_many(pairs);
  if (const auto wrong = calls.first_wrong_answer(results)) {
    violations_.push_back(
        {.verdict = checkers::Verdict::violated,
         .property = "answer.set-many",
         .explanation = fmt::format("set_many of client {} returned another answer for its SET {} "
                                    "than this SET had",
                                    client, *wrong)});
  }
  for (const engine::SetResult& result : results) {
    const bool is_broken =
        result.answer == Answer::disconnected || result.answer == Answer::unknown_outcome;
    if (is_broken || &result == &results.back()) return result.answer;
  }
  return Answer::stored;
}

}  // namespace falafel::store_scenario
