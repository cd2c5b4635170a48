// Recorded histories of the shipped specifications.
#include <gtest/gtest.h>

#include <sstream>
#include <string>

#include "checkers/formats/specification_lines.h"

namespace falafel::checkers_test {
namespace {

using checkers::Verdict;
using checkers::formats::judge_specification_lines;
using checkers::formats::JudgedHistory;
using checkers::formats::ReadError;

tl::expected<JudgedHistory, ReadError> judge_lines(const std::string& text) {
  std::istringstream input(text);
  return judge_specification_lines(input, {}, {});
}

// An operation that was answered, after those before it.
class Recorded {
 public:
  // The other fields of the first line follow a comma.
  explicit Recorded(const std::string& specification, const std::string& fields = "")
      : text_(R"({"specification": ")" + specification + "\"" + fields + "}\n") {}

  Recorded& then(const std::string& operation, const std::string& fields = "") {
    time_ += 2;
    text_ += R"({"client": 1, "operation": ")" + operation + R"(", "call": )" +
             std::to_string(time_) + R"(, "return": )" + std::to_string(time_ + 1) +
             R"(, "outcome": "answered")" + (fields.empty() ? "" : ", " + fields) + "}\n";
    return *this;
  }

  Verdict verdict() const {
    const auto judged = judge_lines(text_);
    EXPECT_TRUE(judged) << (judged ? "" : judged.error().message);
    return judged ? judged->report.judgement.verdict : Verdict::unknown;
  }
  std::string error() const {
    const auto judged = judge_lines(text_);
    EXPECT_FALSE(judged);
    return judged ? "" : std::to_string(judged.error().line) + ": " + judged.error().message;
  }

 private:
  std::string text_;
  std::uint64_t time_ = 0;
};

TEST(SpecificationLines, JudgePriorityQueues) {
  const Recorded pushed = Recorded("priority_queue")
                              .then("push", R"("value": 7)")
                              .then("push", R"("value": 3)")
                              .then("push", R"("value": 3)");
  Recorded popped = Recorded(pushed)
                        .then("pop", R"("result": 3)")
                        .then("pop", R"("result": 3)")
                        .then("pop", R"("result": 7)");
  EXPECT_EQ(popped.then("pop", R"("result": null)").verdict(), Verdict::holds);
  EXPECT_EQ(Recorded(pushed).then("pop", R"("result": 7)").verdict(), Verdict::violated);
  EXPECT_EQ(Recorded(pushed).then("pop", R"("result": null)").verdict(), Verdict::violated);
}

TEST(SpecificationLines, JudgeBanks) {
  const std::string initial = R"(, "initial": {"a": 10, "b": 0})";
  const Recorded paid =
      Recorded("bank", initial)
          .then("transfer", R"("from": "a", "to": "b", "amount": 4, "result": true)");
  EXPECT_EQ(Recorded(paid).then("read", R"("result": {"a": 6, "b": 4})").verdict(), Verdict::holds);
  EXPECT_EQ(Recorded(paid).then("read", R"("result": {"a": 6, "b": 0})").verdict(),
            Verdict::violated);
  const std::string rest = R"("from": "b", "to": "c", "amount": 5, "result": )";
  EXPECT_EQ(Recorded(paid).then("transfer", rest + "false").verdict(), Verdict::holds);
  EXPECT_EQ(Recorded(paid).then("transfer", rest + "true").verdict(), Verdict::violated);
  EXPECT_EQ(Recorded("bank").then("read", R"("result": [1])").error(),
            "2: the result is [1], but must be an object of unsigned 64-bit integers");
  EXPECT_EQ(
      Recorded("bank").then("read", R"("result": {"a": 1, "b": 18446744073709551615})").error(),
      "2: the sum of the result is not below 2^64");
}

TEST(SpecificationLines, JudgeEverySpecification) {
  const std::string one = R"("value": 1)";
  const auto expect = [](const Recorded& recorded, const std::string& operation,
                         const std::string& right, const std::string& wrong) {
    EXPECT_EQ(Recorded(recorded).then(operation, right).verdict(), Verdict::holds) << operation;
    EXPECT_EQ(Recorded(recorded).then(operation, wrong).verdict(), Verdict::violated) << operation;
  };
  expect(Recorded("register").then("write", one), "read", R"("result": 1)", R"("result": "1")");
  expect(Recorded("cas_register").then("write", one), "compare_and_swap",
         R"("expected": 1, "desired": 2, "swapped": true)",
         R"("expected": 1, "desired": 2, "result": 2)");
  expect(Recorded("key_value_map").then("set", R"("key": "a", "value": 1)"), "get",
         R"("key": "a", "result": 1)", R"("key": "a", "result": null)");
  expect(Recorded("key_value_map").then("set", R"("key": "a", "value": 1)"), "remove",
         R"("key": "a", "result": true)", R"("key": "a", "result": false)");
  expect(Recorded("append_log").then("append", one), "append", R"("value": 2, "result": 1)",
         R"("value": 2, "result": 0)");
  expect(Recorded("cache_register").then("set", R"("key": "a", "value": 1)"), "get",
         R"("key": "a", "result": null)", R"("key": "a", "result": 2)");
  expect(Recorded("append_log").then("append", R"("value": 1, "result": 0)"), "read_all",
         R"("result": [1])", R"("result": [])");
  expect(Recorded("append_log").then("append", one), "read_entry", R"("index": 0, "result": 1)",
         R"("index": 1, "result": 1)");
  expect(Recorded("counter").then("fetch_add", R"("addend": 5, "result": 0)"), "read",
         R"("result": 5)", R"("result": 6)");
  expect(Recorded("stack").then("push", one).then("push", R"("value": 2)"), "pop", R"("result": 2)",
         R"("result": 1)");
  expect(Recorded("queue").then("push", one).then("push", R"("value": 2)"), "pop", R"("result": 1)",
         R"("result": 2)");
  expect(Recorded("set").then("add", R"("value": 1, "result": true)"), "contains",
         R"("value": 1, "result": true)", R"("value": 2, "result": true)");
  expect(Recorded("lock").then("acquire", R"("result": true)"), "try_acquire",
         R"("owner": 7, "result": false)", R"("owner": 7, "result": true)");
}

TEST(SpecificationLines, JudgeTransactions) {
  const std::string write = R"("accesses": [["write", "x", 1], ["write", 2, "b"]], "result": [])";
  const auto written = Recorded("multi_register").then("transaction", write);
  const auto read = [&](const std::string& found) {
    return Recorded(written).then(
        "transaction",
        R"("accesses": [["read", "x"], ["read", 2], ["read", "y"]], "result": )" + found);
  };
  EXPECT_EQ(read(R"([1, "b", null])").verdict(), Verdict::holds);
  EXPECT_EQ(read(R"([1, null, null])").verdict(), Verdict::violated);
  EXPECT_EQ(read("[1]").error(), "3: \"result\" has 1 values, but the transaction has 3 reads");
  const auto error = [](const std::string& accesses) {
    return Recorded("multi_register").then("transaction", "\"accesses\": " + accesses).error();
  };
  EXPECT_EQ(error("7"), "2: \"accesses\" is 7, but must be an array");
  EXPECT_EQ(
      error(R"([["read"]])"),
      R"(2: the access ["read"] is neither ["read", register] nor ["write", register, value])");
  const Recorded initial("multi_register", R"(, "initial": [["x", 7], [1, null]])");
  const std::string seven = R"("accesses": [["read", "x"]], "result": [7])";
  EXPECT_EQ(Recorded(initial).then("transaction", seven).verdict(), Verdict::holds);
  EXPECT_EQ(Recorded("multi_register").then("transaction", seven).verdict(), Verdict::violated);
  EXPECT_EQ(Recorded("multi_register", R"(, "initial": {"x": 7})").error(),
            R"(1: the initial value is {"x":7}, but must be an array of pairs [register, value])");
}

TEST(SpecificationLines, JudgeALogWithHoles) {
  const auto log = Recorded("write_once_log")
                       .then("append", R"("value": "a", "result": 4)")
                       .then("fill", R"("position": 2, "result": true)")
                       .then("write", R"("position": 2, "value": "b", "result": false)");
  const auto read = [&](const std::string& fields) {
    return Recorded(log).then("read", fields).verdict();
  };
  EXPECT_EQ(read(R"("position": 4, "result": "a")"), Verdict::holds);
  EXPECT_EQ(read(R"("position": 4, "result": null)"), Verdict::violated);
  EXPECT_EQ(read(R"("position": 3, "result": null)"), Verdict::holds);
  EXPECT_EQ(read(R"("position": 2, "hole": true)"), Verdict::holds);
  EXPECT_EQ(read(R"("position": 3, "hole": true)"), Verdict::violated);
  EXPECT_EQ(read(R"("position": 2, "hole": false, "result": null)"), Verdict::violated);
  EXPECT_EQ(Recorded(log).then("append", R"("value": null, "result": 1)").error(),
            "5: \"value\" is null, which stands for an unwritten position");
  EXPECT_EQ(Recorded(log).then("trim").error(),
            "5: the operation is \"trim\", but must be one of: append, write, fill, read");
}

TEST(SpecificationLines, UnansweredAndRefusedOperations) {
  const std::string start = R"({"specification": "queue"})"
                            "\n\n"
                            R"({"client": 1, "operation": "push", "value": 1, "call": 1, )";
  const std::string pop =
      R"({"client": 2, "operation": "pop", "call": 3, "return": 4, "outcome": "answered", "result": )";
  const std::string lost = start + "\"outcome\": \"indeterminate\"}\n";
  const std::string refused = start + "\"return\": 2, \"outcome\": \"refused\"}\n";
  EXPECT_EQ(judge_lines(lost + pop + "1}")->report.judgement.verdict, Verdict::holds);
  EXPECT_EQ(judge_lines(lost + pop + "null}")->report.judgement.verdict, Verdict::holds);
  EXPECT_EQ(judge_lines(refused + pop + "null}")->report.judgement.verdict, Verdict::holds);
  EXPECT_EQ(judge_lines(refused + pop + "1}")->report.judgement.verdict, Verdict::violated);
  const auto judged = judge_lines(lost + pop + "1}");
  EXPECT_EQ(judged->operations[0].text, "push 1");
  EXPECT_FALSE(judged->operations[0].return_time.has_value());
  EXPECT_EQ(judged->operations[1].return_time, 4U);
}

// Messages shorten keys; keys that differ only after that are different keys.
TEST(SpecificationLines, TellLongKeysApart) {
  const std::string key(100, 'a');
  const std::string set = R"({"client": 1, "operation": "set", "key": ")" + key +
                          R"(x", "value": 1, "call": 1, "return": 2, "outcome": "answered"})";
  const std::string get = R"({"client": 1, "operation": "get", "key": ")" + key +
                          R"(y", "result": null, "call": 3, "return": 4, "outcome": "answered"})";
  const auto judged = judge_lines("{\"specification\": \"key_value_map\"}\n" + set + "\n" + get);
  ASSERT_TRUE(judged.has_value()) << judged.error().message;
  EXPECT_EQ(judged->report.judgement.verdict, Verdict::holds)
      << judged->report.judgement.explanation;
}

TEST(SpecificationLines, SayWhatIsWrongAndWhere) {
  EXPECT_EQ(judge_lines("").error().message,
            R"(the first line must name the specification, as in {"specification": "queue"})");
  EXPECT_EQ(Recorded("queue").error(), "1: the history has no operations; add one line for each");
  EXPECT_EQ(
      Recorded("heap").then("push").error(),
      "1: the specification is \"heap\", but must be one of: append_log, bank, cache_register, "
      "cas_register, counter, key_value_map, lock, multi_register, priority_queue, queue, "
      "register, set, stack, write_once_log");
  EXPECT_EQ(Recorded("queue").then("put").error(),
            "2: the operation is \"put\", but must be one of: push, pop");
  EXPECT_EQ(Recorded("queue").then("pop").error(), "2: \"result\" is missing; add it");
  EXPECT_EQ(Recorded("queue").then("pop", R"("result": 1, "more": 2)").error(),
            "2: \"more\" is unexpected here; remove it");
  EXPECT_EQ(Recorded("queue").then("pop", R"("result": [1])").error(),
            "2: \"result\" is [1], but must be a number, a string, a boolean or null");
  EXPECT_EQ(Recorded("counter").then("read", R"("result": -1)").error(),
            "2: \"result\" is -1, but must be an unsigned 64-bit integer");
  EXPECT_FALSE(judge_lines("{\"specification\": \"queue\"}\n[[[[1]]]]"));
  EXPECT_FALSE(judge_lines("{\"specification\": \"queue\"}\n{\"a\": \xff}"));
  EXPECT_FALSE(judge_lines("{\"specification\": \"queue\"}\n{"));
}

// Each line is wrong in one respect.
TEST(SpecificationLines, NameTheFieldOrTheLimit) {
  const auto error = [](const std::string& line, const std::string& specification = "queue") {
    const auto judged = judge_lines(R"({"specification": ")" + specification + "\"}\n" + line);
    return judged ? "no error" : judged.error().message;
  };
  const std::string push = R"({"operation": "push", "value": 1, "client": 1, "call": 5, )";
  EXPECT_EQ(error(push + R"("return": 4, "outcome": "answered"})"),
            "the operation returns at 4, before its call at 5");
  EXPECT_EQ(error(push + R"("return": 6, "outcome": "maybe"})"),
            "the outcome is \"maybe\", but must be answered, indeterminate or refused");
  EXPECT_EQ(error(R"({"operation": "push", "value": 1, "client": 4294967296, "call": 5, )"
                  R"("outcome": "indeterminate"})"),
            "client 4294967296 exceeds 32 bits");
  EXPECT_EQ(error(R"({"operation": "set", "key": "a", "value": null, "client": 1, "call": 5, )"
                  R"("outcome": "indeterminate"})",
                  "key_value_map"),
            "\"value\" is null, which stands for an absent key; use remove");
  EXPECT_EQ(error("[[[[1]]]]"), "nested more deeply than an operation is");
  EXPECT_EQ(error("{\"a\": \xff}"), "the byte at column 7 is not valid UTF-8");
  EXPECT_EQ(judge_lines(R"({"name": "queue"})").error().message,
            R"(the first line must name the specification, as in {"specification": "queue"})");
}

TEST(SpecificationLines, KeepToTheLimitOfMemory) {
  std::istringstream input(R"({"specification": "queue"})"
                           "\n");
  const auto judged = judge_specification_lines(input, {.history_bytes = 20}, {});
  ASSERT_FALSE(judged.has_value());
  EXPECT_NE(judged.error().message.find("larger than 20 bytes"), std::string::npos)
      << judged.error().message;
}

}  // namespace
}  // namespace falafel::checkers_test
