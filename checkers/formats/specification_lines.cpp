// Within this file, errors are exceptions; judge_specification_lines() converts them to values.
#include "checkers/formats/specification_lines.h"

#include <fmt/format.h>

#include <array>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <variant>

#include "checkers/formats/line_reader.h"
#include "checkers/formats/messages.h"
#include "checkers/specification_linearizability.h"
#include "checkers/specifications/append_log.h"
#include "checkers/specifications/cache_register.h"
#include "checkers/specifications/cas_register.h"
#include "checkers/specifications/counter.h"
#include "checkers/specifications/key_value_map.h"
#include "checkers/specifications/lock.h"
#include "checkers/specifications/queue.h"
#include "checkers/specifications/register.h"
#include "checkers/specifications/set.h"
#include "checkers/specifications/stack.h"
#include "checkers/utf8.h"

namespace falafel::checkers::formats {

// A value of the file: a JSON number, string, boolean or null, in its JSON text.
struct JsonValue {
  std::string text = "null";

  // Hashed as a range of characters.
  std::string::const_iterator begin() const { return text.begin(); }
  std::string::const_iterator end() const { return text.end(); }
  friend bool operator==(const JsonValue&, const JsonValue&) = default;
};

std::string describe_value(const JsonValue& value) { return shortened(value.text); }

namespace {

using nlohmann::json;

// An operation is an object whose fields may be arrays of values.
constexpr int most_nested = 2;

[[noreturn]] void reject(const std::string& message) { throw std::runtime_error(message); }

std::string quote_json(const json& value) {
  return shortened(value.dump(-1, ' ', true, json::error_handler_t::replace));
}

json parse_line(std::string_view line) {
  if (const auto position = find_invalid_utf8(line)) {
    reject(fmt::format("the byte at column {} is not valid UTF-8", *position + 1));
  }
  const auto limit_depth = [](int depth, json::parse_event_t /*event*/, const json& /*value*/) {
    if (depth > most_nested) reject("nested more deeply than an operation is");
    return true;
  };
  json object;
  try {
    object = json::parse(line, limit_depth);
  } catch (const json::exception& error) {
    reject(describe_parse_error(error));
  }
  if (!object.is_object()) reject(fmt::format("{} is not a JSON object", quote_json(object)));
  return object;
}

// The fields of one line. Every field must be read.
class Fields {
 public:
  explicit Fields(const json& object) : object_(object) {}

  bool has(const std::string& name) const { return object_.contains(name); }

  const json& at(const std::string& name) {
    read_.insert(name);
    if (!object_.contains(name)) reject(fmt::format("\"{}\" is missing; add it", name));
    return object_.at(name);
  }
  std::uint64_t number(const std::string& name) {
    const json& value = at(name);
    if (value.is_number_unsigned()) return value.get<std::uint64_t>();
    reject(fmt::format("\"{}\" is {}, but must be an unsigned 64-bit integer", name,
                       quote_json(value)));
  }
  bool flag(const std::string& name) {
    const json& value = at(name);
    if (value.is_boolean()) return value.get<bool>();
    reject(fmt::format("\"{}\" is {}, but must be true or false", name, quote_json(value)));
  }
  std::string text(const std::string& name) {
    const json& value = at(name);
    if (value.is_string()) return value.get<std::string>();
    reject(fmt::format("\"{}\" is {}, but must be a string", name, quote_json(value)));
  }
  JsonValue value(const std::string& name) { return scalar(at(name), name); }
  // Null stands for no value.
  std::optional<JsonValue> found(const std::string& name) {
    const json& value = at(name);
    return value.is_null() ? std::nullopt : std::optional(scalar(value, name));
  }
  std::vector<JsonValue> values(const std::string& name) {
    const json& array = at(name);
    if (!array.is_array()) {
      reject(fmt::format("\"{}\" is {}, but must be an array", name, quote_json(array)));
    }
    std::vector<JsonValue> result;
    for (const json& value : array) result.push_back(scalar(value, name));
    return result;
  }

  void require_all_read() const {
    for (const auto& [name, value] : object_.items()) {
      if (!read_.contains(name)) {
        reject(fmt::format("\"{}\" is unexpected here; remove it", shortened(name)));
      }
    }
  }

 private:
  static JsonValue scalar(const json& value, const std::string& name) {
    if (value.is_primitive()) return {value.dump()};
    reject(fmt::format("\"{}\" is {}, but must be a number, a string, a boolean or null", name,
                       quote_json(value)));
  }

  const json& object_;
  std::set<std::string> read_;
};

[[noreturn]] void reject_operation(const std::string& operation, std::string_view known) {
  reject(
      fmt::format("the operation is \"{}\", but must be one of: {}", shortened(operation), known));
}

// The operations of each specification, and their answers.

using Register = specifications::BasicRegister<JsonValue>;
using CasRegister = specifications::BasicCasRegister<JsonValue>;
using Map = specifications::BasicKeyValueMap<JsonValue, JsonValue>;
using Cache = specifications::BasicCacheRegister<JsonValue, JsonValue>;
using Log = specifications::BasicAppendLog<JsonValue>;
using Stack = specifications::BasicStack<JsonValue>;
using Queue = specifications::BasicQueue<JsonValue>;
using Set = specifications::BasicSet<JsonValue>;
using specifications::Counter;
using specifications::Lock;

template <typename S>
struct Reader;

template <>
struct Reader<Register> {
  static Register::Operation operation(const std::string& name, Fields& fields) {
    if (name == "read") return Register::Read{};
    if (name == "write") return Register::Write{fields.value("value")};
    reject_operation(name, "read, write");
  }
  static Register::Result result(const Register::Operation& operation, Fields& fields) {
    if (std::holds_alternative<Register::Write>(operation)) return {};
    return fields.value("result");
  }
};

template <>
struct Reader<CasRegister> {
  static CasRegister::Operation operation(const std::string& name, Fields& fields) {
    if (name == "read") return CasRegister::Read{};
    if (name == "write") return CasRegister::Write{fields.value("value")};
    if (name == "compare_and_swap") {
      return CasRegister::CompareAndSwap{fields.value("expected"), fields.value("desired")};
    }
    reject_operation(name, "read, write, compare_and_swap");
  }
  static CasRegister::Result result(const CasRegister::Operation& operation, Fields& fields) {
    CasRegister::Result result;
    if (std::holds_alternative<CasRegister::Write>(operation)) return result;
    const bool swaps = std::holds_alternative<CasRegister::CompareAndSwap>(operation);
    if (swaps && fields.has("swapped")) result.swapped = fields.flag("swapped");
    if (!result.swapped || fields.has("result")) result.value = fields.value("result");
    return result;
  }
};

template <typename S>
struct MapReader {
  static typename S::Operation operation(const std::string& name, Fields& fields) {
    JsonValue key = fields.value("key");
    if (name == "get") return typename S::Get{std::move(key)};
    if (name == "remove") return typename S::Remove{std::move(key)};
    if (name != "set") reject_operation(name, "get, set, remove");
    std::optional<JsonValue> value = fields.found("value");
    if (!value) reject("\"value\" is null, which stands for an absent key; use remove");
    return typename S::Set{std::move(key), *std::move(value)};
  }
  static typename S::Result result(const typename S::Operation& operation, Fields& fields) {
    if (std::holds_alternative<typename S::Set>(operation)) return {};
    if (std::holds_alternative<typename S::Remove>(operation)) {
      return fields.flag("result") ? S::removed() : S::absent();
    }
    const std::optional<JsonValue> value = fields.found("result");
    return value ? S::found(*value) : S::absent();
  }
};
template <>
struct Reader<Map> : MapReader<Map> {};
template <>
struct Reader<Cache> : MapReader<Cache> {};

template <>
struct Reader<Log> {
  static Log::Operation operation(const std::string& name, Fields& fields) {
    if (name == "append") return Log::Append{fields.value("value")};
    if (name == "read_entry") return Log::ReadEntry{fields.number("index")};
    if (name == "read_all") return Log::ReadAll{};
    reject_operation(name, "append, read_entry, read_all");
  }
  static Log::Result result(const Log::Operation& operation, Fields& fields) {
    Log::Result result;
    if (std::holds_alternative<Log::Append>(operation)) {
      if (fields.has("result")) result.index = fields.number("result");
    } else if (std::holds_alternative<Log::ReadAll>(operation)) {
      result.values = fields.values("result");
    } else if (const auto value = fields.found("result")) {
      result.values.push_back(*value);
    }
    return result;
  }
};

template <>
struct Reader<Counter> {
  static Counter::Operation operation(const std::string& name, Fields& fields) {
    if (name == "read") return Counter::Read{};
    if (name == "fetch_add") return Counter::FetchAdd{fields.number("addend")};
    reject_operation(name, "read, fetch_add");
  }
  static Counter::Result result(const Counter::Operation& /*operation*/, Fields& fields) {
    return fields.number("result");
  }
};

template <typename S>
struct SequenceReader {
  static typename S::Operation operation(const std::string& name, Fields& fields) {
    if (name == "push") return typename S::Push{fields.value("value")};
    if (name == "pop") return typename S::Pop{};
    reject_operation(name, "push, pop");
  }
  static typename S::Result result(const typename S::Operation& operation, Fields& fields) {
    if (std::holds_alternative<typename S::Push>(operation)) return std::nullopt;
    return fields.found("result");
  }
};
template <>
struct Reader<Stack> : SequenceReader<Stack> {};
template <>
struct Reader<Queue> : SequenceReader<Queue> {};

template <>
struct Reader<Set> {
  static Set::Operation operation(const std::string& name, Fields& fields) {
    if (name == "add") return Set::Add{fields.value("value")};
    if (name == "remove") return Set::Remove{fields.value("value")};
    if (name == "contains") return Set::Contains{fields.value("value")};
    reject_operation(name, "add, remove, contains");
  }
  static Set::Result result(const Set::Operation& /*operation*/, Fields& fields) {
    return fields.flag("result");
  }
};

template <>
struct Reader<Lock> {
  static Lock::Operation operation(const std::string& name, Fields& fields) {
    const std::uint64_t owner = fields.number(fields.has("owner") ? "owner" : "client");
    if (name == "acquire") return Lock::Acquire{owner};
    if (name == "try_acquire") return Lock::TryAcquire{owner};
    if (name == "release") return Lock::Release{owner};
    reject_operation(name, "acquire, try_acquire, release");
  }
  static Lock::Result result(const Lock::Operation& /*operation*/, Fields& fields) {
    return fields.flag("result");
  }
};

template <typename S>
Call<S> read_call(const json& object) {
  Fields fields(object);
  Call<S> call;
  const std::uint64_t client = fields.number("client");
  if (client > std::numeric_limits<std::uint32_t>::max()) {
    reject(fmt::format("client {} exceeds 32 bits", client));
  }
  call.client = static_cast<std::uint32_t>(client);
  call.operation = Reader<S>::operation(fields.text("operation"), fields);
  call.call_time = fields.number("call");
  const std::string outcome = fields.text("outcome");
  if (outcome == "answered") {
    call.return_time = fields.number("return");
    if (call.return_time < call.call_time) {
      reject(fmt::format("the operation returns at {}, before its call at {}", call.return_time,
                         call.call_time));
    }
    call.result = Reader<S>::result(call.operation, fields);
  } else if (outcome == "refused") {
    call.is_refused = true;
    call.return_time = fields.number("return");
  } else if (outcome != "indeterminate") {
    reject(fmt::format("the outcome is \"{}\", but must be answered, indeterminate or refused",
                       shortened(outcome)));
  }
  fields.require_all_read();
  return call;
}

// Reads lines that are not empty.
class Lines {
 public:
  Lines(std::istream& input, const ReadLimits& limits)
      : reader_(input, limits.line_bytes), limits_(limits) {}

  // nullopt: the end.
  std::optional<json> next() {
    for (;;) {
      const auto line = reader_.next();
      if (!line) reject(line.error());
      if (!line->has_value()) return std::nullopt;
      bytes_ += (*line)->size();
      if (bytes_ > limits_.history_bytes) {
        reject(
            fmt::format("the history is larger than {} bytes; check a part of it or raise the "
                        "limit",
                        limits_.history_bytes));
      }
      if ((*line)->find_first_not_of(" \t") != std::string_view::npos) return parse_line(**line);
    }
  }
  std::uint64_t number() const { return reader_.number(); }

 private:
  LineReader reader_;
  ReadLimits limits_;
  std::size_t bytes_ = 0;
};

template <typename S>
void judge(Lines& lines, const LinearizabilityLimits& limits, JudgedHistory& judged) {
  std::vector<Call<S>> calls;
  while (const std::optional<json> object = lines.next()) calls.push_back(read_call<S>(*object));
  if (calls.empty()) reject("the history has no operations; add one line for each");
  for (const Call<S>& call : calls) {
    JudgedOperation operation{.client = call.client,
                              .text = S::describe(call.operation, call.answer()),
                              .call_time = call.call_time};
    if (call.result) operation.return_time = call.return_time;
    judged.operations.push_back(std::move(operation));
  }
  judged.report =
      SpecificationChecker<S>(limits).report(calls, std::numeric_limits<std::size_t>::max());
}

using Judge = void (*)(Lines&, const LinearizabilityLimits&, JudgedHistory&);

constexpr std::array<std::pair<std::string_view, Judge>, 10> judges = {{
    {"append_log", judge<Log>},
    {"cache_register", judge<Cache>},
    {"cas_register", judge<CasRegister>},
    {"counter", judge<Counter>},
    {"key_value_map", judge<Map>},
    {"lock", judge<Lock>},
    {"queue", judge<Queue>},
    {"register", judge<Register>},
    {"set", judge<Set>},
    {"stack", judge<Stack>},
}};

Judge judge_named(const std::string& name) {
  std::string known;
  for (const auto& [candidate, judge] : judges) {
    if (candidate == name) return judge;
    known += (known.empty() ? "" : ", ") + std::string(candidate);
  }
  reject(
      fmt::format("the specification is \"{}\", but must be one of: {}", shortened(name), known));
}

JudgedHistory read_and_judge(Lines& lines, const LinearizabilityLimits& limits) {
  const std::optional<json> first = lines.next();
  if (!first || !first->contains("specification")) {
    reject(R"(the first line must name the specification, as in {"specification": "queue"})");
  }
  Fields fields(*first);
  JudgedHistory judged;
  judged.specification = fields.text("specification");
  fields.require_all_read();
  judge_named(judged.specification)(lines, limits, judged);
  return judged;
}

}  // namespace

tl::expected<JudgedHistory, ReadError> judge_specification_lines(
    std::istream& input, const ReadLimits& read_limits, const LinearizabilityLimits& limits) {
  Lines lines(input, read_limits);
  try {
    return read_and_judge(lines, limits);
  } catch (const std::exception& error) {
    return tl::unexpected(ReadError{lines.number(), error.what()});
  }
}

}  // namespace falafel::checkers::formats
