// A log of values: append, read of one entry, read of the whole log. It is empty at first.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "checkers/specification.h"
#include "checkers/specifications/values.h"

namespace falafel::checkers::specifications {

template <typename Value>
struct BasicAppendLog {
  struct Append {
    Value value{};
    friend bool operator==(const Append&, const Append&) = default;
  };
  // Counted from 0.
  struct ReadEntry {
    std::uint64_t index = 0;
    friend bool operator==(const ReadEntry&, const ReadEntry&) = default;
  };
  struct ReadAll {
    friend bool operator==(const ReadAll&, const ReadAll&) = default;
  };
  struct Result {
    std::optional<std::uint64_t> index{};  // append: the entry's index; nullopt: not revealed
    std::vector<Value> values{};  // read entry: the value, or none beyond the end; read all
    friend bool operator==(const Result&, const Result&) = default;
  };
  using State = std::vector<Value>;
  using Operation = std::variant<Append, ReadEntry, ReadAll>;

  static State initial() { return {}; }

  static bool apply(State& state, const Operation& operation, const Result* result) {
    if (const auto* const append = std::get_if<Append>(&operation)) {
      state.push_back(append->value);
      return result == nullptr || !result->index || *result->index == state.size() - 1;
    }
    if (result == nullptr) return true;
    const auto* const entry = std::get_if<ReadEntry>(&operation);
    if (entry == nullptr) return result->values == state;
    if (entry->index >= state.size()) return result->values.empty();
    return result->values.size() == 1 && result->values.front() == state[entry->index];
  }

  static bool only_reads(const Operation& operation, const Result* /*result*/) {
    return !std::holds_alternative<Append>(operation);
  }

  static std::string describe(const Operation& operation, const Result* result) {
    if (const auto* const append = std::get_if<Append>(&operation)) {
      const bool has_index = result != nullptr && result->index;
      return "append " + describe_value(append->value) +
             (has_index ? " -> entry " + std::to_string(*result->index) : "");
    }
    const auto* const entry = std::get_if<ReadEntry>(&operation);
    return (entry != nullptr ? "read entry " + std::to_string(entry->index)
                             : std::string("read all")) +
           " -> " + (result != nullptr ? describe_values(result->values) : "?");
  }
  static std::string describe(const State& state) { return describe_values(state); }
};

using AppendLog = BasicAppendLog<std::uint64_t>;
static_assert(Specification<AppendLog>);

}  // namespace falafel::checkers::specifications
