// Jepsen logs of one register that is initially nil, with lines such as
//   INFO  jepsen.util - 2   :invoke  :cas  [2 4]
// Tabs or spaces separate the words. A line is an operation if a process number is followed by a
// type. Other lines are skipped unless they start like an operation and are cut off.
#include <algorithm>
#include <array>
#include <optional>
#include <span>

#include "checkers/formats/messages.h"
#include "checkers/formats/numbers.h"
#include "checkers/formats/open_calls.h"
#include "checkers/formats/recorded_history.h"

namespace falafel::checkers::formats {

namespace {

using checkers::Answer;
using checkers::Operation;
using checkers::OperationKind;
using Words = std::vector<std::string_view>;
using Value = std::span<const std::string_view>;  // the words after the function

constexpr std::string_view only_key = "register";
constexpr std::string_view separators = " \t";
constexpr std::size_t most_words = 64;  // the rest of a line is ignored

// Each bracket is a word of its own.
Words split(std::string_view line) {
  Words words;
  while (words.size() < most_words) {
    const std::size_t begin = line.find_first_not_of(separators);
    if (begin == std::string_view::npos) break;
    line.remove_prefix(begin);
    const bool is_bracket = line[0] == '[' || line[0] == ']';
    const std::size_t end = is_bracket ? 1 : std::min(line.find_first_of(" \t[]"), line.size());
    words.push_back(line.substr(0, end));
    line.remove_prefix(end);
  }
  return words;
}

bool is_number(std::string_view word) {
  return !word.empty() && word.find_first_not_of("0123456789") == std::string_view::npos;
}

bool is_type(std::string_view word) {
  static constexpr std::array types = {":invoke", ":ok", ":fail", ":info"};
  return std::ranges::find(types, word) != types.end();
}

// Returns the position of the process number; nullopt: the line is not an operation.
tl::expected<std::optional<std::size_t>, std::string> find_process(const Words& words) {
  for (std::size_t index = 0; index + 1 < words.size(); ++index) {
    if (is_number(words[index]) && is_type(words[index + 1])) return index;
  }
  for (std::size_t index = 0; index + 2 < words.size(); ++index) {
    const bool begins = words[index] == "jepsen.util" && words[index + 1] == "-";
    if (begins && is_number(words[index + 2])) {
      return fail("process {} must be followed by :invoke, :ok, :fail or :info",
                  shortened(words[index + 2]));
    }
  }
  return std::nullopt;
}

// Accepts only the canonical form of an integer, so that equal integers are equal strings.
tl::expected<std::string, std::string> read_integer(std::string_view word) {
  const auto number = parse_number<std::int64_t>(word);
  if (!number) return fail("'{}' is not a 64-bit integer", shortened(word));
  return fmt::format("{}", *number);
}

ParseResult read_swap(Operation& operation, Value value) {
  if (value.size() != 4 || value[0] != "[" || value[3] != "]") {
    return fail(":cas must be followed by two integers, [from to]");
  }
  const auto expected = read_integer(value[1]);
  const auto written = read_integer(value[2]);
  if (!expected) return tl::unexpected(expected.error());
  if (!written) return tl::unexpected(written.error());
  operation.expected = *expected;
  operation.value = *written;
  return {};
}

// Reads the request: an operation with its kind and, unless it is a get, its values.
ParseResult read_request(Operation& operation, std::string_view function, Value value) {
  if (function == ":cas") {
    operation.kind = OperationKind::compare_and_swap;
    return read_swap(operation, value);
  }
  if (value.size() != 1) return fail("{} must be followed by one value", shortened(function));
  if (function == ":read") return {};
  if (function != ":write") {
    return fail("unknown function '{}'; use :read, :write or :cas", shortened(function));
  }
  operation.kind = OperationKind::set;
  const auto written = read_integer(value[0]);
  if (!written) return tl::unexpected(written.error());
  operation.value = *written;
  return {};
}

// Reads the answer of an operation that succeeded.
ParseResult read_success(Operation& operation, std::string_view function, Value value) {
  Operation repeated{.value = operation.value, .expected = operation.expected};
  if (ParseResult read = read_request(repeated, function, value); !read) return read;
  if (repeated.value != operation.value || repeated.expected != operation.expected) {
    return fail("the values differ from those of the call");
  }
  if (operation.kind == OperationKind::set) operation.answer = Answer::stored;
  if (operation.kind == OperationKind::compare_and_swap) operation.answer = Answer::swapped;
  if (operation.kind != OperationKind::get) return {};
  operation.answer = value[0] == "nil" ? Answer::not_found : Answer::found;
  if (operation.answer == Answer::not_found) return {};
  const auto found = read_integer(value[0]);
  if (!found) return tl::unexpected(found.error());
  operation.value = *found;
  return {};
}

class JepsenRegisterParser final : public HistoryParser {
 public:
  ParseResult read_line(std::string_view line, std::uint64_t number) override {
    const Words words = split(line);
    const auto found = find_process(words);
    if (!found) return tl::unexpected(found.error());
    if (!found->has_value()) return {};
    const std::size_t index = **found;
    const auto process = parse_number<std::uint32_t>(words[index]);
    if (!process) return fail("process {} is too large", shortened(words[index]));
    if (index + 2 >= words.size()) return fail("the line ends before :read, :write or :cas");
    const Value value = Value(words).subspan(index + 3);
    if (words[index + 1] == ":invoke") return call(*process, words[index + 2], value, number);
    return complete(*process, words[index + 1], words[index + 2], value, number);
  }

  tl::expected<checkers::Model, ReadError> model() const override {
    return checkers::Model::cas_register;
  }

 private:
  ParseResult call(std::uint32_t process, std::string_view function, Value value,
                   std::uint64_t number) {
    Operation operation{.client = process, .key = std::string(only_key), .call_time = number};
    if (ParseResult read = read_request(operation, function, value); !read) return read;
    calls_.call(process, operations_.size());
    operations_.push_back(std::move(operation));
    return {};
  }

  ParseResult complete(std::uint32_t process, std::string_view type, std::string_view function,
                       Value value, std::uint64_t number) {
    const auto called = calls_.take(process);
    if (!called) return fail("process {} returns without a pending call", process);
    Operation& operation = operations_[*called];
    if (function != function_of(operation.kind)) {
      return fail("process {} called {}, not {}", process, function_of(operation.kind),
                  shortened(function));
    }
    if (type == ":info") return {};
    operation.return_time = number;
    if (type == ":ok") return read_success(operation, function, value);
    // A failed swap that repeats exactly its own values did not match. Any other failed operation
    // was not executed.
    Operation repeated;
    const bool did_not_match =
        operation.kind == OperationKind::compare_and_swap && read_swap(repeated, value).has_value();
    operation.answer = did_not_match ? Answer::not_swapped : Answer::refused;
    return {};
  }

  static std::string_view function_of(OperationKind kind) {
    if (kind == OperationKind::get) return ":read";
    return kind == OperationKind::set ? ":write" : ":cas";
  }

  OpenCalls calls_;
};

}  // namespace

std::unique_ptr<HistoryParser> make_jepsen_register_parser() {
  return std::make_unique<JepsenRegisterParser>();
}

}  // namespace falafel::checkers::formats
