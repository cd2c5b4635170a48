// Logs of a key-value store whose values are strings, initially empty. Each line is an EDN map,
// such as
//   {:process 9, :type :invoke, :f :append, :key "0", :value "x 9 0 y"}
#include <optional>
#include <string>
#include <utility>

#include "checkers/formats/edn.h"
#include "checkers/formats/messages.h"
#include "checkers/formats/numbers.h"
#include "checkers/formats/open_calls.h"
#include "checkers/formats/recorded_history.h"

namespace falafel::checkers::formats {

namespace {

using checkers::Answer;
using checkers::Operation;
using checkers::OperationKind;
using Type = EdnValue::Type;

// Returns the text of an entry, which must have the given type.
tl::expected<std::string, std::string> read_entry(const EdnMap& map, std::string_view name,
                                                  Type type, std::string_view type_name) {
  const auto found = map.find(name);
  if (found == map.end()) return fail("{} is missing", name);
  if (found->second.type != type) return fail("{} is not {}", name, type_name);
  return found->second.text;
}

tl::expected<OperationKind, std::string> read_kind(const EdnMap& map) {
  const auto function = read_entry(map, ":f", Type::keyword, "a keyword");
  if (!function) return tl::unexpected(function.error());
  if (*function == ":get") return OperationKind::get;
  if (*function == ":put") return OperationKind::set;
  if (*function == ":append") return OperationKind::append;
  return fail("unknown function {}; :get, :put and :append are known", shortened(*function));
}

// Returns nullopt if the value is nil or missing.
tl::expected<std::optional<std::string>, std::string> read_value(const EdnMap& map) {
  const auto found = map.find(":value");
  if (found == map.end() || found->second.type == Type::nil) return std::nullopt;
  if (found->second.type != Type::string) return fail(":value must be a string or nil");
  return found->second.text;
}

class KvLogParser final : public HistoryParser {
 public:
  ParseResult read_line(std::string_view line, std::uint64_t number) override {
    const auto map = parse_edn_map(line);
    if (!map) return tl::unexpected(map.error());
    if (map->empty()) return {};
    const auto type = read_entry(*map, ":type", Type::keyword, "a keyword");
    if (!type) return tl::unexpected(type.error());
    const auto process_entry = map->find(":process");
    const bool is_nemesis =
        process_entry != map->end() && process_entry->second.type == Type::keyword;
    if (is_nemesis) return {};
    const auto text = read_entry(*map, ":process", Type::integer, "a number");
    if (!text) return tl::unexpected(text.error());
    const auto process = parse_number<std::uint32_t>(*text);
    if (!process) return fail("process {} is out of range", shortened(*text));
    if (*type == ":invoke") return call(*process, *map, number);
    return complete(*process, *type, *map, number);
  }

  tl::expected<checkers::Model, ReadError> model() const override {
    return checkers::Model::append_log;
  }

 private:
  ParseResult call(std::uint32_t process, const EdnMap& map, std::uint64_t number) {
    const auto kind = read_kind(map);
    auto key = read_entry(map, ":key", Type::string, "a string");
    auto value = read_value(map);
    if (!kind) return tl::unexpected(kind.error());
    if (!key) return tl::unexpected(key.error());
    if (!value) return tl::unexpected(value.error());
    if (value->has_value() == (*kind == OperationKind::get)) {
      return fail("the :value of a call must be a string, or nil for a :get");
    }
    calls_.call(process, operations_.size());
    operations_.push_back({.client = process,
                           .kind = *kind,
                           .key = *std::move(key),
                           .value = value->value_or(""),
                           .call_time = number});
    return {};
  }

  ParseResult complete(std::uint32_t process, std::string_view type, const EdnMap& map,
                       std::uint64_t number) {
    const auto called = calls_.take(process);
    if (!called) return fail("process {} returns without a pending call", process);
    Operation& operation = operations_[*called];
    const auto kind = read_kind(map);
    if (!kind) return tl::unexpected(kind.error());
    const auto key = map.find(":key");
    const bool is_other_key = key != map.end() && key->second.text != operation.key;
    if (*kind != operation.kind || is_other_key) {
      return fail("process {} called a different operation in line {}", process,
                  operation.call_time);
    }
    if (type == ":info") return {};
    operation.return_time = number;
    operation.answer = Answer::refused;
    if (type == ":fail") return {};
    if (type != ":ok") return fail("unknown type {}", shortened(type));
    return succeed(operation, map);
  }

  static ParseResult succeed(Operation& operation, const EdnMap& map) {
    auto value = read_value(map);
    if (!value) return tl::unexpected(value.error());
    const bool is_get = operation.kind == OperationKind::get;
    operation.answer = is_get ? Answer::found : Answer::stored;
    if (is_get) {
      operation.value = std::move(*value).value_or("");
    } else if (value->has_value() && **value != operation.value) {
      return fail("the :value differs from that of the call");
    }
    return {};
  }

  OpenCalls calls_;
};

}  // namespace

std::unique_ptr<HistoryParser> make_kv_log_parser() { return std::make_unique<KvLogParser>(); }

}  // namespace falafel::checkers::formats
