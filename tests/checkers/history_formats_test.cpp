// Tests of parsing recorded histories: their meaning, rejected input, and robustness against any
// input.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "checkers/formats/json_format.h"
#include "checkers/formats/recorded_history.h"
#include "checkers/linearizability.h"
#include "checkers/utf8.h"
#include "fabric/random.h"
#include "tests/checkers/operations.h"
#include "tests/checkers/recorded_texts.h"
#include "tests/thoroughness.h"
#include "tools/benchmarks/random_history/random_history.h"

namespace falafel::checkers::formats {
namespace {

using namespace checkers_test;
using checkers::Model;
using checkers::Verdict;
using checkers::generators::random_history;

tl::expected<RecordedHistory, ReadError> read(std::string_view text, Format format,
                                              const ReadLimits& limits = {}) {
  std::istringstream input{std::string(text)};
  return read_history(input, format, limits);
}

// Returns an error such as "3: unknown type", or "" if the text was accepted.
std::string error_of(std::string_view text, Format format, const ReadLimits& limits = {}) {
  const auto recorded = read(text, format, limits);
  if (recorded) return "";
  return std::to_string(recorded.error().line) + ": " + recorded.error().message;
}

Verdict judge(std::string_view text, Format format) {
  const auto recorded = read(text, format);
  EXPECT_TRUE(recorded.has_value()) << error_of(text, format);
  if (!recorded) return Verdict::unknown;
  return check_linearizability(recorded->operations, recorded->model).verdict;
}

std::string repeated(std::string_view text, int times) {
  std::string result;
  for (int done = 0; done < times; ++done) result += text;
  return result;
}

TEST(HistoryFormats, GoodHistoriesHold) {
  EXPECT_EQ(judge(texts::good_register, Format::jepsen_register), Verdict::holds);
  EXPECT_EQ(judge(texts::good_log, Format::kv_log), Verdict::holds);
  EXPECT_EQ(judge(texts::good_json, Format::json_lines), Verdict::holds);
}

TEST(HistoryFormats, BadHistoriesAreViolations) {
  EXPECT_EQ(judge(texts::bad_register, Format::jepsen_register), Verdict::violated);
  EXPECT_EQ(judge(texts::bad_log, Format::kv_log), Verdict::violated);
  EXPECT_EQ(judge(texts::bad_json, Format::json_lines), Verdict::violated);
}

TEST(JepsenRegister, MeansOperations) {
  const auto recorded = read(texts::good_register, Format::jepsen_register);
  ASSERT_TRUE(recorded.has_value());
  EXPECT_EQ(recorded->model, Model::cas_register);
  const std::vector<Operation> expected = {
      stored(0, {2, 5}, "3"),
      not_found(1, {3, 4}),
      not_swapped(2, {7, 8}, "2", "4"),
      swapped(2, {9, 10}, "3", "4"),
      lost(stored(3, {11, 0}, "1")),
      operation(1, {13, 14}, OperationKind::get, Answer::refused, ""),
      found(1, {15, 16}, "4"),
      found(1, {17, 18}, "1"),
      lost(swapped(4, {19, 0}, "1", "2")),
  };
  ASSERT_EQ(recorded->operations.size(), expected.size());
  for (std::size_t index = 0; index < expected.size(); ++index) {
    EXPECT_EQ(recorded->operations[index], on("register", expected[index])) << index;
  }
}

TEST(JepsenRegister, UnansweredOperationsOfAProcessStayUnanswered) {
  const auto recorded =
      read("x - 1 :invoke :write 1\nx - 1 :invoke :write -2\r\nx - 1 :ok :write -2\r\n",
           Format::jepsen_register);
  ASSERT_TRUE(recorded.has_value());
  ASSERT_EQ(recorded->operations.size(), 2U);
  EXPECT_EQ(recorded->operations[0], on("register", lost(stored(1, {1, 0}, "1"))));
  EXPECT_EQ(recorded->operations[1], on("register", stored(1, {2, 3}, "-2")));
}

TEST(JepsenRegister, FailuresOfWhichNothingIsKnownAreRefusals) {
  const auto recorded =
      read("x - 1 :invoke :cas [1 2]\nx - 1 :fail :cas :unavailable\n", Format::jepsen_register);
  ASSERT_TRUE(recorded.has_value());
  EXPECT_EQ(recorded->operations[0].answer, Answer::refused);
}

TEST(JepsenRegister, RefusesWhatIsWrong) {
  const auto error = [](std::string_view text) { return error_of(text, Format::jepsen_register); };
  EXPECT_EQ(error(""), "1: the input has no operations; check that it has this format");
  EXPECT_EQ(error("hello\nworld\n"),
            "2: the input has no operations; check that it has this format");
  EXPECT_EQ(error("\nx - 1 :invoke"), "2: the line ends before :read, :write or :cas");
  EXPECT_EQ(error("INFO jepsen.util - 12"),
            "1: process 12 must be followed by :invoke, :ok, :fail or :info");
  EXPECT_EQ(error("x - 1 :ok :read 3"), "1: process 1 returns without a pending call");
  EXPECT_EQ(error("x - 1 :invoke :read nil\nx - 1 :ok :write 3"),
            "2: process 1 called :read, not :write");
  EXPECT_EQ(error("x - 1 :invoke :read nil\nx - 1 :ok :read"),
            "2: :read must be followed by one value");
  EXPECT_EQ(error("x - 1 :invoke :read nil\nx - 1 :ok :read x"), "2: 'x' is not a 64-bit integer");
  EXPECT_EQ(error("x - 1 :invoke :write nil"), "1: 'nil' is not a 64-bit integer");
  EXPECT_EQ(error("x - 1 :invoke :write 99999999999999999999"),
            "1: '99999999999999999999' is not a 64-bit integer");
  EXPECT_EQ(error("x - 1 :invoke :cas [1 2"),
            "1: :cas must be followed by two integers, [from to]");
  EXPECT_EQ(error("x - 1 :invoke :cas [[1 2]]"),
            "1: :cas must be followed by two integers, [from to]");
  EXPECT_EQ(error("x - 1 :invoke :enqueue 1"),
            "1: unknown function ':enqueue'; use :read, :write or :cas");
  EXPECT_EQ(error("x - 1 :invoke :write 1\nx - 1 :ok :write 2"),
            "2: the values differ from those of the call");
  EXPECT_EQ(error("x - 4294967296 :invoke :read nil"), "1: process 4294967296 is too large");
}

TEST(KvLog, MeansOperations) {
  const auto recorded = read(texts::good_log, Format::kv_log);
  ASSERT_TRUE(recorded.has_value());
  EXPECT_EQ(recorded->model, Model::append_log);
  const std::vector<Operation> expected = {
      on("0", appended(0, {2, 7}, "x 0 0 y")),
      on("0", appended(1, {3, 6}, "x 1 0 y")),
      on("0", found(2, {4, 5}, "x 1 0 y")),
      on("0", found(2, {8, 9}, "x 1 0 yx 0 0 y")),
      on("1", lost(stored(1, {10, 0}, "\"\u00e4\\"))),
      on("1", found(0, {11, 12}, "\"\u00e4\\")),
  };
  EXPECT_EQ(recorded->operations, expected);
}

TEST(KvLog, InfoAndFailAreNoAnswers) {
  const auto recorded = read(
      "{:process 1 :type :invoke :f :put :key \"a\" :value \"1\"}\n"
      "{:process 1 :type :info :f :put :key \"a\" :value \"1\"}\n"
      "{:process 1 :type :invoke :f :append :key \"a\" :value \"2\"}\n"
      "{:process 1 :type :fail :f :append :key \"a\" :value \"2\"}\n"
      "{:process 1 :type :invoke :f :get :key \"b\"}\n"
      "{:process 1 :type :ok :f :get :key \"b\" :value nil}\n",
      Format::kv_log);
  ASSERT_TRUE(recorded.has_value()) << recorded.error().message;
  EXPECT_EQ(recorded->operations[0].answer, Answer::indeterminate);
  EXPECT_EQ(recorded->operations[1].answer, Answer::refused);
  EXPECT_EQ(recorded->operations[2], on("b", found(1, {5, 6}, "")));
}

TEST(KvLog, RefusesWhatIsWrong) {
  const auto error = [](std::string_view text) { return error_of(text, Format::kv_log); };
  const std::string call = "{:process 1 :type :invoke :f :get :key \"a\"}\n";
  EXPECT_EQ(error("; nothing\n\n"),
            "2: the input has no operations; check that it has this format");
  EXPECT_EQ(error("hello"), "1: column 1: expected a map, {...}");
  EXPECT_EQ(error("{:process 1 :type :invoke :f :get :key \"a"),
            "1: column 42: the line ends inside a string");
  EXPECT_EQ(error("{:process 1 :type :invoke :f :get "),
            "1: column 35: the line ends inside the map");
  EXPECT_EQ(error("{:process 1 :type}"), "1: column 18: no value after :type");
  EXPECT_EQ(error("{:a 1 :a 2}"), "1: column 11: :a occurs twice");
  EXPECT_EQ(error("{\"a\" 1}"), "1: column 6: expected a keyword, such as :type, as key");
  EXPECT_EQ(error("{:a ]}"), "1: column 5: a value is missing");
  EXPECT_EQ(error("{:a \"\\x\"}"), "1: column 7: unknown escape in a string");
  EXPECT_EQ(error("{:a \"\\ud800\"}"),
            "1: column 7: \\u must be followed by the four hexadecimal digits of a character");
  EXPECT_EQ(error("{:a " + std::string(100'000, '[')),
            "1: column 36: nested more than 32 levels deep");
  EXPECT_EQ(error("{:a " + repeated("#a ", 100'000)),
            "1: column 98: nested more than 32 levels deep");
  EXPECT_EQ(error("{:a 1} 2"), "1: column 8: text after the map");
  EXPECT_EQ(error("{:process 1}"), "1: :type is missing");
  EXPECT_EQ(error("{:type :invoke}"), "1: :process is missing");
  EXPECT_EQ(error("{:type :invoke :process -1}"), "1: process -1 is out of range");
  EXPECT_EQ(error("{:type :invoke :process 1 :f :pop}"),
            "1: unknown function :pop; :get, :put and :append are known");
  EXPECT_EQ(error("{:type :invoke :process 1 :f :get :key 1}"), "1: :key is not a string");
  EXPECT_EQ(error("{:type :invoke :process 1 :f :put :key \"a\"}"),
            "1: the :value of a call must be a string, or nil for a :get");
  EXPECT_EQ(error("{:type :invoke :process 1 :f :put :key \"a\" :value [1]}"),
            "1: :value must be a string or nil");
  EXPECT_EQ(error("{:type :ok :process 1 :f :get}"), "1: process 1 returns without a pending call");
  EXPECT_EQ(error(call + "{:type :ok :process 1 :f :get :key \"b\" :value \"\"}"),
            "2: process 1 called a different operation in line 1");
  EXPECT_EQ(error(call + "{:type :done :process 1 :f :get :key \"a\" :value \"\"}"),
            "2: unknown type :done");
}

TEST(JsonLines, MeanOperations) {
  using namespace std::string_literals;
  const auto recorded = read(texts::good_json, Format::json_lines);
  ASSERT_TRUE(recorded.has_value()) << recorded.error().message;
  EXPECT_EQ(recorded->model, Model::cas_register);
  const std::vector<Operation> expected = {
      on("a", stored(1, {10, 15}, "1")),
      on("a", found(2, {12, 14}, "1")),
      on("a", lost(deleted(2, {20, 0}))),
      on("a", not_found(1, {21, 22})),
      on("\0\xff"s, swapped(1, {23, 24}, std::nullopt, "")),
      on("b", operation(1, {25, 26}, OperationKind::set, Answer::refused, "2")),
  };
  EXPECT_EQ(recorded->operations, expected);
}

TEST(JsonLines, ModelIsThatOfTheOperations) {
  EXPECT_EQ(read(texts::bad_json, Format::json_lines)->model, Model::key_value_register);
  const std::string append =
      R"({"client":1,"key":"a","kind":"append","value":"1","call":1,"return":2,"outcome":"stored"})"
      "\n";
  EXPECT_EQ(read(append, Format::json_lines)->model, Model::append_log);
  EXPECT_EQ(error_of(append + std::string(texts::bad_json), Format::json_lines),
            "3: an appended key, as in line 1, is never absent and cannot be deleted or "
            "compared and swapped");
}

TEST(JsonLines, RefuseWhatIsWrong) {
  const auto error = [](std::string_view text) { return error_of(text, Format::json_lines); };
  const auto begins = [&](std::string_view text, std::string_view message) {
    const std::string complaint = error(text);
    EXPECT_TRUE(complaint.starts_with(message)) << complaint;
  };
  begins("\n{\"client\": 1,", "2: not valid JSON: ");
  begins("garbage", "1: not valid JSON: ");
  EXPECT_EQ(error("[]"), "1: [] is not a JSON object");
  EXPECT_EQ(error(std::string(1'000'000, '[')), "1: nested more deeply than an operation is");
  EXPECT_EQ(error(R"({"kind": "get"})"), "1: outcome is missing");
  EXPECT_EQ(error(R"({"kind": "pop", "outcome": "found"})"), "1: unknown kind \"pop\"");
  EXPECT_EQ(error(R"({"kind": "get", "outcome": 5})"), "1: unknown outcome 5");
  EXPECT_EQ(error(R"({"kind": "get", "outcome": "stored"})"),
            "1: the outcome of \"get\" cannot be \"stored\"");
  const std::string get = R"({"kind": "get", "outcome": "not_found", "key": "a", )";
  EXPECT_EQ(error(get + R"("client": 1, "call": 1})"), "1: return is missing");
  EXPECT_EQ(error(get + R"("client": 1, "call": 1, "return": 2, "value": "a"})"),
            "1: unexpected field \"value\"");
  EXPECT_EQ(error(get + R"("client": -1, "call": 1, "return": 2})"),
            "1: client is -1, but must be an unsigned 64-bit integer");
  EXPECT_EQ(error(get + R"("client": 4294967296, "call": 1, "return": 2})"),
            "1: client 4294967296 exceeds 32 bits");
  EXPECT_EQ(error(get + R"("client": 1, "call": 3, "return": 2})"),
            "1: the operation returns at 2, before its call at 3");
  const std::string found = R"({"kind": "get", "outcome": "found", "client": 1, "call": 1, )";
  EXPECT_EQ(error(found + R"("return": 2, "key": "a", "value": {"hex": "0g"}})"),
            "1: value is {\"hex\":\"0g\"}, but must be pairs of hexadecimal digits");
  EXPECT_EQ(error(found + R"("return": 2, "key": 7, "value": ""})"),
            "1: key is 7, but must be a string or {\"hex\": ...}");
}

TEST(JsonLines, WhatIsWrittenIsRead) {
  fabric::RandomGenerator random(1);
  for (const Model model : {Model::key_value_register, Model::cas_register, Model::append_log}) {
    std::vector<Operation> history =
        random_history({.model = model, .keys = 3, .lost_permille = 100}, random);
    history.front().key = "\xff\"\\\n";
    std::string text;
    for (Operation& operation : history) {
      text += operation_to_json(operation).dump() + "\n";
      const bool is_lost_get =
          operation.kind == OperationKind::get && operation.answer == Answer::indeterminate;
      if (is_lost_get || operation.answer == Answer::not_found) operation.value.clear();
    }
    const auto recorded = read(text, Format::json_lines);
    ASSERT_TRUE(recorded.has_value()) << recorded.error().message;
    EXPECT_EQ(recorded->operations, history);
  }
}

TEST(HistoryFormats, LimitsAreKept) {
  const ReadLimits short_lines{.line_bytes = 100};
  EXPECT_EQ(error_of(std::string(99, ' ') + "\n" + std::string(101, ' '), Format::json_lines,
                     short_lines),
            "2: the line is longer than 100 bytes");
  EXPECT_EQ(error_of(std::string(1'000'000, 'a'), Format::jepsen_register, short_lines),
            "1: the line is longer than 100 bytes");
  const ReadLimits short_history{.history_bytes = 1'000};
  const std::string error = error_of(texts::good_log, Format::kv_log, short_history);
  EXPECT_NE(error.find(": the history is larger than 1000 bytes; check a part of it or raise"),
            std::string::npos)
      << error;
}

TEST(HistoryFormats, InvalidUtf8IsRefused) {
  const std::string text(texts::good_register);
  EXPECT_EQ(error_of(text + "caf\xe9\n", Format::jepsen_register),
            "20: the byte at column 4 is not valid UTF-8");
}

TEST(Utf8, IsThatOfTheStandard) {
  for (const std::string_view valid : {"", "a", "\u00e4\u20ac\U0001f9c6", "\uffff\U0010ffff"}) {
    EXPECT_EQ(find_invalid_utf8(valid), std::nullopt) << valid;
  }
  for (const std::string_view invalid :
       {"\x80", "\xc0\x80", "\xc1\xbf", "\xe0\x80\x80", "\xed\xa0\x80", "\xf0\x80\x80\x80",
        "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xff", "\xe2\x82", "\xe2\x28\xa1"}) {
    EXPECT_EQ(find_invalid_utf8(std::string("ab") + std::string(invalid)), 2U);
  }
  for (const char32_t character : {U'a', U'\u00e4', U'\u20ac', U'\U0001f9c6'}) {
    std::string text;
    append_utf8(text, character);
    EXPECT_EQ(find_invalid_utf8(text), std::nullopt);
  }
}

// Cuts, repeats, swaps and overwrites parts of a text.
std::string damaged(std::string text, fabric::RandomGenerator& random) {
  static constexpr std::array<std::string_view, 12> pieces = {
      "\n",      "{",   "[",   "]",    "\"", "\\",
      ":invoke", ":ok", "nil", "\xff", "#{", "99999999999999999999"};
  const std::uint64_t changes = 1 + random.below(4);
  for (std::uint64_t done = 0; done < changes; ++done) {
    const std::size_t position = random.below(text.size() + 1);
    const std::size_t length = random.below(std::min<std::size_t>(text.size() - position, 40) + 1);
    switch (random.below(5)) {
      case 0: text.erase(position, length); break;
      case 1: text.insert(position, text.substr(position, length)); break;
      case 2: text.insert(random.below(position + 1), text.substr(position, length)); break;
      case 3: text.insert(position, pieces.at(random.below(pieces.size()))); break;
      default: text.resize(position); break;
    }
  }
  return text;
}

// The text is accepted, or rejected with an existing line number and a printable message.
void expect_no_harm(const std::string& text, Format format) {
  const auto recorded = read(text, format);
  if (recorded) {
    check_linearizability(recorded->operations, recorded->model, {.steps = 10'000});
    return;
  }
  const auto lines = static_cast<std::uint64_t>(std::ranges::count(text, '\n')) + 1;
  EXPECT_GE(recorded.error().line, 1U) << text;
  EXPECT_LE(recorded.error().line, lines) << text;
  EXPECT_FALSE(recorded.error().message.empty()) << text;
  EXPECT_EQ(find_invalid_utf8(recorded.error().message), std::nullopt) << text;
}

TEST(HistoryFormats, DamagedTextDoesNoHarm) {
  fabric::RandomGenerator random(1);
  const std::uint64_t repetitions = tests::usual_share(10'000);
  for (std::uint64_t repetition = 0; repetition < repetitions; ++repetition) {
    expect_no_harm(damaged(std::string(texts::good_register), random), Format::jepsen_register);
    expect_no_harm(damaged(std::string(texts::good_log), random), Format::kv_log);
    expect_no_harm(damaged(std::string(texts::good_json), random), Format::json_lines);
  }
}

}  // namespace
}  // namespace falafel::checkers::formats
