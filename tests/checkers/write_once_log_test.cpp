// The specification of a log with holes fixes the position of an append without an answer when an
// answer depends on it. Here it is compared with the definition: the append takes any unwritten
// position at once.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "checkers/specification_linearizability.h"
#include "checkers/specifications/write_once_log.h"
#include "tests/checkers/random_calls.h"
#include "tests/checkers/specification_oracle.h"

namespace falafel::checkers_test {
namespace {

using checkers::Call;
using checkers::Verdict;
using checkers::specifications::WriteOnceLog;

struct DefinedLog {
  using Operation = WriteOnceLog::Operation;
  using Result = WriteOnceLog::Result;
  using State = std::map<std::uint64_t, std::optional<std::uint64_t>>;  // nullopt: a hole

  // Above those that the histories name: appends without an answer may be there unseen.
  static constexpr std::uint64_t positions = 16;

  static State initial() { return {}; }

  static void next_states(const State& state, const Operation& operation, const Result* result,
                          std::vector<State>& next) {
    if (const auto* const append = std::get_if<WriteOnceLog::Append>(&operation)) {
      for (std::uint64_t position = 0; position < positions; ++position) {
        if (result != nullptr && result->position != position) continue;
        if (state.contains(position)) continue;
        next.push_back(state);
        next.back()[position] = append->value;
      }
      return;
    }
    State after = state;
    const Result answer = execute(after, operation);
    if (result == nullptr || *result == answer) next.push_back(after);
  }

  static Result execute(State& state, const Operation& operation) {
    if (const auto* const write = std::get_if<WriteOnceLog::Write>(&operation)) {
      const bool writes = !state.contains(write->position);
      if (writes) state[write->position] = write->value;
      return {.succeeded = writes};
    }
    if (const auto* const fill = std::get_if<WriteOnceLog::Fill>(&operation)) {
      if (!state.contains(fill->position)) state[fill->position] = std::nullopt;
      return {.succeeded = !state[fill->position].has_value()};
    }
    const std::uint64_t position = std::get<WriteOnceLog::Read>(operation).position;
    if (!state.contains(position)) return {};
    return {.is_hole = !state[position].has_value(), .value = state[position]};
  }

  static std::string describe(const Operation& operation, const Result* result) {
    return WriteOnceLog::describe(operation, result);
  }
};

std::vector<Call<DefinedLog>> with_definition(const std::vector<Call<WriteOnceLog>>& calls) {
  std::vector<Call<DefinedLog>> defined;
  for (const Call<WriteOnceLog>& call : calls) {
    defined.push_back({.client = call.client,
                       .operation = call.operation,
                       .result = call.result,
                       .is_refused = call.is_refused,
                       .call_time = call.call_time,
                       .return_time = call.return_time});
  }
  return defined;
}

TEST(WriteOnceLogDefinition, JudgesAsTheSpecificationDoes) {
  checkers::SpecificationChecker<WriteOnceLog> checker;
  RandomGenerator random(7);
  std::size_t violated = 0;
  for (int repetition = 0; repetition < 4'000; ++repetition) {
    const CallOptions options{.operations = 6, .clients = 3, .lost_permille = 250};
    std::vector<Call<WriteOnceLog>> calls = CallGenerator<WriteOnceLog>(options, random).run();
    const std::uint64_t mutations = random.below(3);
    for (std::uint64_t done = 0; done < mutations; ++done) mutate(calls, random);
    const bool is_right = is_linearizable<DefinedLog>(with_definition(calls));
    if (!is_right) ++violated;
    ASSERT_EQ(checker.check(calls).verdict, is_right ? Verdict::holds : Verdict::violated)
        << checker.check(calls).explanation;
  }
  EXPECT_GT(violated, 400U);
  EXPECT_LT(violated, 3'600U);
}

}  // namespace
}  // namespace falafel::checkers_test
