// Histories that Jepsen and Knossos write.
#include <gtest/gtest.h>

#include <sstream>
#include <string>

#include "checkers/formats/jepsen_history.h"

namespace falafel::checkers_test {
namespace {

using checkers::Verdict;
using checkers::formats::judge_jepsen_history;
using checkers::formats::JudgedHistory;
using checkers::formats::JudgeSettings;
using checkers::formats::ReadError;

tl::expected<JudgedHistory, ReadError> judged(const std::string& text,
                                              const std::string& specification = "",
                                              const JudgeSettings& settings = {}) {
  std::istringstream input(text);
  return judge_jepsen_history(input, specification, {}, settings);
}

Verdict verdict(const std::string& text, const std::string& specification = "",
                const JudgeSettings& settings = {}) {
  const auto result = judged(text, specification, settings);
  EXPECT_TRUE(result) << (result ? "" : result.error().message);
  return result ? result->report.judgement.verdict : Verdict::unknown;
}

std::string error(const std::string& text, const std::string& specification = "") {
  const auto result = judged(text, specification);
  return result ? "none" : std::to_string(result.error().line) + ": " + result.error().message;
}

// One event with the fields that a history of Jepsen has.
std::string event(const std::string& process, const std::string& type, const std::string& function,
                  const std::string& value) {
  return "{:index 7, :time 1719430000000000000, :type " + type + ", :process " + process + ", :f " +
         function + ", :value " + value + ", :error [:a {:b \"}\"}]}\n";
}

std::string answered(const std::string& function, const std::string& call,
                     const std::string& answer) {
  return event("1", ":invoke", function, call) + event("1", ":ok", function, answer);
}

TEST(JepsenHistory, HasMapsWithMoreFieldsAndANemesis) {
  const std::string text = answered(":write", "1", "1") +
                           event(":nemesis", ":info", ":start", "nil") +
                           answered(":read", "nil", "1");
  EXPECT_EQ(verdict(text), Verdict::holds);
  EXPECT_EQ(verdict(text + answered(":read", "nil", "2")), Verdict::violated);
  EXPECT_EQ(judged(text)->operations.size(), 2U);
  EXPECT_EQ(judged(text)->operations[1].text, "read -> 1");
}

// A swap that failed may have failed for any reason.
TEST(JepsenHistory, FailedOperationsDidNotHappen) {
  const std::string text = answered(":write", "1", "1") + event("1", ":invoke", ":cas", "[1 2]") +
                           event("1", ":fail", ":cas", "[1 2]");
  EXPECT_EQ(verdict(text + answered(":read", "nil", "1")), Verdict::holds);
  EXPECT_EQ(verdict(text + answered(":read", "nil", "2")), Verdict::violated);
}

TEST(JepsenHistory, OperationsWithInfoMayHappenLater) {
  const std::string text = answered(":write", "1", "1") + event("2", ":invoke", ":write", "2") +
                           event("2", ":info", ":write", "2") + answered(":read", "nil", "1");
  EXPECT_EQ(verdict(text + answered(":read", "nil", "2")), Verdict::holds);
  EXPECT_EQ(verdict(text + answered(":read", "nil", "3")), Verdict::violated);
}

TEST(JepsenHistory, IndependentKeysAreJudgedAlone) {
  const auto records = [](const std::string& read) {
    return "#jepsen.history.Op{:type :invoke, :process 0, :f :write, :value [5 1]}\n"
           "#jepsen.history.Op{:type :ok, :process 0, :f :write, :value [5 1]}\n"
           "#jepsen.history.Op{:type :invoke, :process 0, :f :cas, :value [6 [nil 2]]}\n"
           "#jepsen.history.Op{:type :ok, :process 0, :f :cas, :value [6 [nil 2]]}\n"
           "#jepsen.history.Op{:type :invoke, :process 0, :f :read, :value [5 nil]}\n"
           "#jepsen.history.Op{:type :ok, :process 0, :f :read, :value [5 " +
           read + "]}\n";
  };
  EXPECT_EQ(verdict(records("1")), Verdict::holds);
  EXPECT_EQ(verdict(records("2")), Verdict::violated);
  const auto report = judged(records("2"))->report;
  EXPECT_EQ(report.key, "5");
  EXPECT_EQ(report.unfitting.front(), 2U) << "the position in the whole history";
  EXPECT_EQ(report.judged, 2U);
}

TEST(JepsenHistory, MayBeAVectorOverSeveralLines) {
  const std::string text =
      "; from Knossos\n"
      "[{:process 4, :type :invoke,\n  :f :write, :value 2}\n"
      " {:process 4, :type :ok, :f :write, :value 2}\n"
      " {:process 6, :type :invoke, :f :read, :value nil}\n"
      " {:process 6, :type :ok, :f :read, :value ";
  EXPECT_EQ(verdict(text + "2}]\n"), Verdict::holds);
  EXPECT_EQ(verdict(text + "nil}]\n"), Verdict::violated);
  EXPECT_EQ(error(text + "2}\n"), "7: the file ends before the last ]");
  EXPECT_EQ(error(text + "2\n"), "7: the file ends inside the map");
}

TEST(JepsenHistory, MayBeTheLinesOfALog) {
  const std::string start = "2026-01-02 03:04:05,678{GMT}\tINFO\t[jepsen worker 1] jepsen.util: ";
  const std::string text = start + "1\t:invoke\t:write\t3\n" + start + "1\t:ok\t:write\t3\n" +
                           "some other line :ok\n" + start + ":nemesis\t:info\t:kill\t[\"n1\"]\n" +
                           start + "2\t:invoke\t:cas\t[3 4]\n" + start +
                           "2\t:info\t:cas\t[3 4]\t:timed-out\n" + start +
                           "3\t:invoke\t:read\tnil\n" + start + "3\t:ok\t:read\t";
  EXPECT_EQ(verdict(text + "4\n"), Verdict::holds);
  EXPECT_EQ(verdict(text + "5\n"), Verdict::violated);
  EXPECT_EQ(error(text + "\n"), "8: the line ends before the value of the operation");
}

TEST(JepsenHistory, FunctionsSelectTheSpecification) {
  const std::string queue = answered(":enqueue", "1", "1") + answered(":enqueue", "2", "2");
  EXPECT_EQ(verdict(queue + answered(":dequeue", "nil", "1")), Verdict::holds);
  EXPECT_EQ(verdict(queue + answered(":dequeue", "nil", "2")), Verdict::violated);
  EXPECT_EQ(verdict(queue + answered(":dequeue", "nil", "2"), "stack"), Verdict::holds);
  const std::string lock = answered(":acquire", "nil", "nil");
  EXPECT_EQ(verdict(lock + answered(":release", "nil", "nil")), Verdict::holds);
  EXPECT_EQ(verdict(lock + answered(":acquire", "nil", "nil")), Verdict::violated);
}

TEST(JepsenHistory, TransactionsReadAndWriteSeveralRegisters) {
  const std::string text = answered(":txn", "[[:w :x 1] [:w 7 2]]", "[[:w :x 1] [:w 7 2]]");
  const auto reads = [&](const std::string& x, const std::string& seven) {
    return text + answered(":txn", "[[:r :x nil] [:read 7 nil] [:write :x 3]]",
                           "[[:r :x " + x + "] [:read 7 " + seven + "] [:write :x 3]]");
  };
  EXPECT_EQ(verdict(reads("1", "2")), Verdict::holds);
  EXPECT_EQ(verdict(reads("1", "nil")), Verdict::violated);
  EXPECT_EQ(judged(reads("1", "2"))->operations[1].text,
            R"({read ":x" -> 1, read 7 -> 2, write ":x" 3})");
  // Two accesses are no pair of a key and a value.
  EXPECT_EQ(judged(text)->specification, "multi_register");
  EXPECT_EQ(verdict(answered(":txn", "[5 [[:w :x 1]]]", "[5 [[:w :x 1]]]") +
                    answered(":txn", "[6 [[:r :x nil]]]", "[6 [[:r :x nil]]]")),
            Verdict::holds);
  EXPECT_EQ(error(answered(":txn", "[[:append :x 1]]", "[[:append :x 1]]")),
            "1: :txn has the value [[:append :x 1]], but must have a vector of [:r key value] and "
            "[:w key value]");
}

TEST(JepsenHistory, MayBeginWithAnotherValue) {
  const std::string read = answered(":read", "nil", "0");
  EXPECT_EQ(verdict(read), Verdict::violated);
  EXPECT_EQ(verdict(read, "", {.initial = 0}), Verdict::holds);
}

TEST(JepsenHistory, ErrorsNameTheLineAndTheCure) {
  EXPECT_EQ(error(""), "1: the history has no operations; add one line for each");
  EXPECT_EQ(error("{:type :invoke}\n"), "1: :process is missing in {:type :invoke}");
  EXPECT_EQ(error("\n[1]"), "2: 1 is not an operation, a map {...}");
  EXPECT_EQ(error(event("1", ":done", ":read", "nil")),
            "1: the type is :done, but must be :invoke, :ok, :fail or :info");
  EXPECT_EQ(error(event("-1", ":ok", ":read", "nil")),
            "1: the process is -1, but must be a number of up to 32 bits, or a keyword such as "
            ":nemesis");
  EXPECT_EQ(error(event("1", ":ok", ":read", "nil")),
            "1: process 1 returns without a pending call; the history must begin with the first "
            "call");
  EXPECT_EQ(error(event("1", ":invoke", ":read", "nil") + event("1", ":ok", ":write", "1")),
            "2: process 1 called :read in line 1, not :write");
  EXPECT_EQ(error(event("1", ":invoke", ":cas", "2")),
            "1: :cas has the value 2, but must have [from to]");
  EXPECT_EQ(error(event("1", ":invoke", ":drain", "nil")),
            "1: unknown function :drain; known are :read :write :cas :enqueue :dequeue :push :pop "
            ":acquire :try-acquire :release :txn");
  EXPECT_EQ(error(event("1", ":invoke", ":read", "[5 nil]") + event("1", ":ok", ":read", "1")),
            "1: the value 1 is not [key value], but those of the other operations are");
  EXPECT_EQ(error("{:a \xff}"), "1: the byte at column 5 is not valid UTF-8");
}

}  // namespace
}  // namespace falafel::checkers_test
