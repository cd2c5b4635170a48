// Reads the operations of the shipped specifications, and their answers, from JSON objects
// (docs/checkers.md). Errors are exceptions of type std::runtime_error.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "checkers/formats/messages.h"
#include "checkers/formats/specification_fields.h"
#include "checkers/specifications/append_log.h"
#include "checkers/specifications/bank.h"
#include "checkers/specifications/cache_register.h"
#include "checkers/specifications/cas_register.h"
#include "checkers/specifications/counter.h"
#include "checkers/specifications/key_value_map.h"
#include "checkers/specifications/lock.h"
#include "checkers/specifications/multi_register.h"
#include "checkers/specifications/priority_queue.h"
#include "checkers/specifications/queue.h"
#include "checkers/specifications/register.h"
#include "checkers/specifications/set.h"
#include "checkers/specifications/stack.h"
#include "checkers/specifications/write_once_log.h"

namespace falafel::checkers::formats {

// The operations of each specification, and their answers.

using Register = specifications::BasicRegister<JsonValue>;
using CasRegister = specifications::BasicCasRegister<JsonValue>;
using Map = specifications::BasicKeyValueMap<JsonValue, JsonValue>;
using Cache = specifications::BasicCacheRegister<JsonValue, JsonValue>;
using Log = specifications::BasicAppendLog<JsonValue>;
using Stack = specifications::BasicStack<JsonValue>;
using Queue = specifications::BasicQueue<JsonValue>;
using Set = specifications::BasicSet<JsonValue>;
using MultiRegister = specifications::BasicMultiRegister<JsonValue, JsonValue>;
using WriteOnceLog = specifications::BasicWriteOnceLog<JsonValue>;
using specifications::Bank;
using specifications::Counter;
using specifications::Lock;
using specifications::PriorityQueue;

template <typename S>
struct Reader;

//   Operation operation(name, fields), Result result(operation, fields)
//   State initial(value, texts)   optional: the state that the option --initial names
template <>
struct Reader<Register> {
  static Register::State initial(const json& value, JsonTexts& texts) {
    return texts.scalar(value, "the initial value");
  }
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
  static CasRegister::State initial(const json& value, JsonTexts& texts) {
    return texts.scalar(value, "the initial value");
  }
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
    const JsonValue key = fields.value("key");
    if (name == "get") return typename S::Get{key};
    if (name == "remove") return typename S::Remove{key};
    if (name != "set") reject_operation(name, "get, set, remove");
    const std::optional<JsonValue> value = fields.found("value");
    if (!value) reject("\"value\" is null, which stands for an absent key; use remove");
    return typename S::Set{key, *value};
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
struct Reader<WriteOnceLog> {
  static WriteOnceLog::Operation operation(const std::string& name, Fields& fields) {
    if (name == "append") return WriteOnceLog::Append{written(fields)};
    if (name == "read") return WriteOnceLog::Read{fields.number("position")};
    if (name == "fill") return WriteOnceLog::Fill{fields.number("position")};
    if (name != "write") reject_operation(name, "append, write, fill, read");
    const std::uint64_t position = fields.number("position");
    return WriteOnceLog::Write{position, written(fields)};
  }
  static WriteOnceLog::Result result(const WriteOnceLog::Operation& operation, Fields& fields) {
    if (std::holds_alternative<WriteOnceLog::Append>(operation)) {
      return WriteOnceLog::at(fields.number("result"));
    }
    if (!std::holds_alternative<WriteOnceLog::Read>(operation)) {
      return fields.flag("result") ? WriteOnceLog::yes() : WriteOnceLog::no();
    }
    if (fields.has("hole") && fields.flag("hole")) return WriteOnceLog::hole();
    const std::optional<JsonValue> value = fields.found("result");
    return value ? WriteOnceLog::found(*value) : WriteOnceLog::unwritten();
  }

 private:
  static JsonValue written(Fields& fields) {
    const std::optional<JsonValue> value = fields.found("value");
    if (!value) reject("\"value\" is null, which stands for an unwritten position");
    return *value;
  }
};

template <>
struct Reader<MultiRegister> {
  static MultiRegister::State initial(const json& value, JsonTexts& texts) {
    MultiRegister::State state;
    const auto is_pair = [](const json& pair) { return pair.is_array() && pair.size() == 2; };
    if (!value.is_array() || !std::ranges::all_of(value, is_pair)) {
      reject(fmt::format("the initial value is {}, but must be an array of pairs [register, value]",
                         quote_json(value)));
    }
    for (const json& pair : value) {
      const JsonValue key = texts.scalar(pair[0], "a register");
      MultiRegister::put(state, key, texts.scalar(pair[1], "an initial value"));
    }
    return state;
  }
  static MultiRegister::Operation operation(const std::string& name, Fields& fields) {
    if (name != "transaction") reject_operation(name, "transaction");
    MultiRegister::Operation accesses;
    const json& listed = fields.at("accesses");
    if (!listed.is_array()) {
      reject(fmt::format("\"accesses\" is {}, but must be an array", quote_json(listed)));
    }
    for (const json& each : listed) accesses.push_back(access(each, fields));
    return accesses;
  }
  static MultiRegister::Result result(const MultiRegister::Operation& accesses, Fields& fields) {
    std::vector<JsonValue> found = fields.values("result");
    const auto reads =
        std::ranges::count_if(accesses, [](const auto& any) { return !any.written; });
    if (found.size() == static_cast<std::size_t>(reads)) return found;
    reject(fmt::format("\"result\" has {} values, but the transaction has {} reads", found.size(),
                       reads));
  }

 private:
  static MultiRegister::Access access(const json& listed, Fields& fields) {
    const std::size_t words = listed.is_array() ? listed.size() : 0;
    if (words == 2 && listed[0] == "read") {
      return MultiRegister::read(fields.scalar(listed[1], "a register"));
    }
    if (words != 3 || listed[0] != "write") {
      reject(
          fmt::format("the access {} is neither [\"read\", register] nor [\"write\", register, "
                      "value]",
                      quote_json(listed)));
    }
    const JsonValue key = fields.scalar(listed[1], "a register");
    return MultiRegister::write(key, fields.scalar(listed[2], "a written value"));
  }
};

template <>
struct Reader<Counter> {
  static Counter::State initial(const json& value, JsonTexts& /*texts*/) {
    if (value.is_number_unsigned()) return value.get<std::uint64_t>();
    reject(fmt::format("the initial value is {}, but must be an unsigned 64-bit integer",
                       quote_json(value)));
  }
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
  static typename S::State initial(const json& value, JsonTexts& texts) {
    const std::vector<JsonValue> values = texts.scalars(value, "the initial value");
    return {values.begin(), values.end()};
  }
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
struct Reader<PriorityQueue> {
  static PriorityQueue::Operation operation(const std::string& name, Fields& fields) {
    if (name == "push") return PriorityQueue::Push{fields.number("value")};
    if (name == "pop") return PriorityQueue::Pop{};
    reject_operation(name, "push, pop");
  }
  static PriorityQueue::Result result(const PriorityQueue::Operation& operation, Fields& fields) {
    if (std::holds_alternative<PriorityQueue::Push>(operation)) return std::nullopt;
    const bool is_empty = fields.at("result").is_null();
    return is_empty ? std::nullopt : std::optional(fields.number("result"));
  }
};

template <>
struct Reader<Bank> {
  static Bank::State initial(const json& value, JsonTexts& /*texts*/) {
    return balances(value, "the initial value");
  }
  static Bank::Operation operation(const std::string& name, Fields& fields) {
    if (name == "read") return Bank::Read{};
    if (name != "transfer") reject_operation(name, "read, transfer");
    std::string from = fields.text("from");
    std::string to = fields.text("to");
    return Bank::Transfer{std::move(from), std::move(to), fields.number("amount")};
  }
  static Bank::Result result(const Bank::Operation& operation, Fields& fields) {
    if (std::holds_alternative<Bank::Transfer>(operation)) return fields.flag("result");
    return balances(fields.at("result"), "the result");
  }

 private:
  static Bank::State balances(const json& object, std::string_view what) {
    const bool are_numbers =
        object.is_object() && std::ranges::all_of(object, &json::is_number_unsigned);
    if (!are_numbers) {
      reject(fmt::format("{} is {}, but must be an object of unsigned 64-bit integers", what,
                         quote_json(object)));
    }
    Bank::State state;
    std::uint64_t left = std::numeric_limits<std::uint64_t>::max();
    for (const auto& [account, value] : object.items()) {
      const auto balance = value.get<std::uint64_t>();
      if (balance > left) reject(fmt::format("the sum of {} is not below 2^64", what));
      left -= balance;
      if (balance != 0) state[account] = balance;
    }
    return state;
  }
};

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

}  // namespace falafel::checkers::formats
