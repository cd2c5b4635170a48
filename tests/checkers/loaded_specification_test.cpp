// Specifications of users in shared libraries.
#include "checkers/formats/loaded_specification.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "checkers/formats/jepsen_history.h"
#include "checkers/formats/specification_lines.h"
#include "checkers/specification_linearizability.h"
#include "tests/checkers/random_calls.h"

namespace falafel::checkers_test {
namespace {

using checkers::Call;
using checkers::Verdict;
using checkers::formats::judge_jepsen_history;
using checkers::formats::judge_specification_lines;
using checkers::formats::JudgedHistory;
using checkers::formats::JudgeSettings;
using checkers::formats::load_specification;
using checkers::formats::ReadError;
using checkers::specifications::Queue;

std::string library(const std::string& name) { return FALAFEL_SPECIFICATIONS + name + ".so"; }

const falafel_specification* loaded(const std::string& name) {
  const auto specification = load_specification(library(name));
  EXPECT_TRUE(specification) << specification.error();
  return specification ? *specification : nullptr;
}

// A history of JSON Lines.
class Lines {
 public:
  explicit Lines(std::string name) : name_(std::move(name)) {}

  // An operation that was answered, after those before it. The fields begin with its name.
  Lines& then(const std::string& fields) {
    time_ += 2;
    return add(fmt::format(R"({}, "call": {}, "return": {}, "outcome": "answered")", fields, time_,
                           time_ + 1));
  }
  Lines& add(const std::string& fields) {
    operations_ += R"({"client": 1, "operation": )" + fields + "}\n";
    return *this;
  }

  tl::expected<JudgedHistory, ReadError> judged(const JudgeSettings& settings) const {
    std::istringstream input(R"({"specification": ")" + name_ + "\"}\n" + operations_);
    return judge_specification_lines(input, {}, settings);
  }
  Verdict verdict(std::optional<nlohmann::json> initial = {}) const {
    const auto result = judged({.initial = std::move(initial), .library = loaded(name_)});
    EXPECT_TRUE(result) << result.error().message;
    return result ? result->report.judgement.verdict : Verdict::unknown;
  }
  std::string error(std::optional<nlohmann::json> initial = {}) const {
    const auto result = judged({.initial = std::move(initial), .library = loaded(name_)});
    return result ? "none" : fmt::format("{}: {}", result.error().line, result.error().message);
  }

 private:
  std::string name_;
  std::string operations_;
  std::uint64_t time_ = 0;
};

Lines two_pushes() {
  return Lines("bounded_queue")
      .then(R"("push", "value": 7, "result": true)")
      .then(R"("push", "value": "b", "result": true)");
}

TEST(LoadedSpecification, JudgesHistories) {
  EXPECT_EQ(two_pushes().then(R"("pop", "result": 7)").verdict(), Verdict::holds);
  EXPECT_EQ(two_pushes().then(R"("push", "value": 9, "result": false)").verdict(), Verdict::holds);
  EXPECT_EQ(two_pushes().then(R"("push", "value": 9, "result": true)").verdict(),
            Verdict::violated);
  const auto wrong =
      two_pushes().then(R"("pop", "result": "b")").judged({.library = loaded("bounded_queue")});
  ASSERT_TRUE(wrong) << wrong.error().message;
  EXPECT_EQ(
      wrong->report.judgement.explanation,
      "the object: no order of its 3 operations is correct. The longest correct prefix has 2 "
      "operations:\n"
      "  1. client 1: push 7 -> true (call 2, return 3)\n"
      "  2. client 1: push \"b\" -> true (call 4, return 5)\n"
      "Now the state is [7, \"b\"]. The following operation must come next, before it returns "
      "at 7, but its answer is wrong:\n"
      "  client 1: pop -> \"b\" (call 6, return 7)\n");
}

TEST(LoadedSpecification, OperationsWithoutAnAnswerMayHappenLater) {
  Lines lost = Lines("bounded_queue")
                   .add(R"("push", "value": 7, "call": 1, "outcome": "indeterminate")")
                   .then(R"("pop", "result": null)")
                   .then(R"("pop", "result": 7)");
  EXPECT_EQ(lost.verdict(), Verdict::holds);
  EXPECT_EQ(lost.then(R"("pop", "result": 7)").verdict(), Verdict::violated);
  EXPECT_EQ(Lines("bounded_queue")
                .add(R"("push", "value": 7, "call": 1, "return": 2, "outcome": "refused")")
                .then(R"("pop", "result": 7)")
                .verdict(),
            Verdict::violated);
}

TEST(LoadedSpecification, TakesOrRefusesTheInitialState) {
  const Lines third = two_pushes().then(R"("push", "value": 9, "result": true)");
  EXPECT_EQ(third.verdict(2), Verdict::violated);
  EXPECT_EQ(third.verdict(3), Verdict::holds);
  EXPECT_EQ(third.error("many"),
            "1: the initial value is \"many\", which the specification bounded_queue refuses");
}

TEST(LoadedSpecification, RefusesOperations) {
  const auto error = [](const std::string& fields) {
    return Lines("bounded_queue").then(fields).error();
  };
  EXPECT_EQ(error(R"("pull", "result": 1)"), "2: the operations are push and pop");
  EXPECT_EQ(error(R"("push", "result": true)"), "2: push needs a value");
  EXPECT_EQ(error(R"("push", "value": 1)"), "2: push answers true or false");
  const auto other = Lines("queue").then(R"("pop", "result": 1)");
  const auto judged = other.judged({.library = loaded("bounded_queue")});
  ASSERT_FALSE(judged);
  EXPECT_EQ(judged.error().message,
            "the history is of the specification \"queue\", but the library has \"bounded_queue\"");
}

// Each counter is judged alone, and the functions that a library may leave out are not called.
TEST(LoadedSpecification, JudgesIndependentPartsOfAnObject) {
  const auto add = [](const std::string& name, int before) {
    return fmt::format(R"("add", "value": ["{}", 5], "result": {})", name, before);
  };
  const Lines both = Lines("counters").then(add("a", 0)).then(add("b", 0));
  EXPECT_EQ(Lines(both).then(add("a", 5)).verdict(), Verdict::holds);
  const auto wrong = Lines(both).then(add("a", 0)).judged({.library = loaded("counters")});
  ASSERT_TRUE(wrong) << wrong.error().message;
  EXPECT_EQ(wrong->report.key, "a");
  const std::string& explanation = wrong->report.judgement.explanation;
  EXPECT_NE(explanation.find("the state is 0x0500000000000000"), std::string::npos) << explanation;
  EXPECT_EQ(both.error(7), "1: the initial value is 7, which the specification counters refuses");
}

TEST(LoadedSpecification, JudgesHistoriesOfJepsen) {
  const auto verdict = [](const std::string& last) {
    std::istringstream input(
        "{:process 1, :type :invoke, :f :add, :value [:a 5]}\n"
        "{:process 1, :type :ok, :f :add, :value 0}\n"
        "{:process 1, :type :invoke, :f :add, :value [:a 1]}\n"
        "{:process 1, :type :fail, :f :add, :value [:a 1]}\n"
        "{:process 2, :type :invoke, :f :add, :value [:a 2]}\n"
        "{:process 2, :type :ok, :f :add, :value " +
        last + "}\n");
    const auto judged =
        judge_jepsen_history(input, "counters", {}, {.library = loaded("counters")});
    EXPECT_TRUE(judged) << judged.error().message;
    return judged ? judged->report.judgement.verdict : Verdict::unknown;
  };
  EXPECT_EQ(verdict("5"), Verdict::holds);
  EXPECT_EQ(verdict("6"), Verdict::violated);
}

// A queue that is never full is a queue.
TEST(LoadedSpecification, JudgesAsTheShippedSpecificationDoes) {
  checkers::SpecificationChecker<Queue> checker;
  RandomGenerator random(5);
  int violated = 0;
  for (int repetition = 0; repetition < 500; ++repetition) {
    auto calls = CallGenerator<Queue>({.operations = 8, .lost_permille = 100}, random).run();
    mutate(calls, random);
    Lines lines("bounded_queue");
    for (const Call<Queue>& call : calls) {
      const auto* const push = std::get_if<Queue::Push>(&call.operation);
      std::string fields =
          push != nullptr ? fmt::format(R"("push", "value": {})", push->value) : "\"pop\"";
      fields += fmt::format(R"(, "call": {})", call.call_time);
      if (call.is_refused || !call.result) {
        fields += call.is_refused
                      ? fmt::format(R"(, "return": {}, "outcome": "refused")", call.return_time)
                      : R"(, "outcome": "indeterminate")";
      } else {
        const std::string found = *call.result ? std::to_string(**call.result) : "null";
        fields += fmt::format(R"(, "return": {}, "outcome": "answered", "result": {})",
                              call.return_time, push != nullptr ? "true" : found);
      }
      lines.add(fields);
    }
    const Verdict expected = checker.check(calls).verdict;
    if (expected == Verdict::violated) ++violated;
    ASSERT_EQ(lines.verdict(1'000), expected);
  }
  EXPECT_GT(violated, 50);
  EXPECT_LT(violated, 400);
}

TEST(LoadedSpecification, LibrariesThatCannotBeUsedAreRefused) {
  const auto error = [](const std::string& name) {
    const auto specification = load_specification(library(name));
    if (specification) return std::string("none");
    const std::string& message = specification.error();
    const std::size_t path = message.find(library(name));
    return path == std::string::npos
               ? message
               : message.substr(0, path) + name + message.substr(path + library(name).size());
  };
  EXPECT_EQ(error("lacks_function"),
            "lacks_function does not export the function falafel_user_specification");
  EXPECT_EQ(error("lacks_specification"), "lacks_specification returns no specification");
  EXPECT_EQ(error("has_other_version"),
            "has_other_version has version 2 of the interface, but this program has version 1; "
            "compile it with this version's checkers/specification_library.h");
  EXPECT_EQ(error("lacks_name"), "the specification of lacks_name has no name");
  EXPECT_EQ(error("lacks_initial"),
            "the specification of lacks_initial lacks the function initial");
  EXPECT_EQ(error("lacks_apply"), "the specification of lacks_apply lacks the function apply");
  EXPECT_EQ(error("missing"),
            "cannot load the specification: missing: cannot open shared object file: No such file "
            "or directory");
}

}  // namespace
}  // namespace falafel::checkers_test
