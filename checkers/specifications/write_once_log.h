// A log with holes, such as CORFU's (Balakrishnan et al., NSDI 2012): each position is written
// once, in any order. Every position is unwritten at first.
//
//   append   writes the value at an unwritten position, which the log chooses. Positions need not
//            grow: a slow append may fill a gap that a faster one has left.
//   write    writes the value at this position; "no" only if the position is not unwritten.
//   fill     makes an unwritten position a hole, which no value can take any more. "No" only if the
//            position has a value; a hole stays one, with the answer "yes".
//   read     the value, a hole, or nothing if the position is unwritten.
//
// A log that fills positions by itself, for example with the no-ops of a new leader, answers a read
// with a hole although nobody called fill. Record such a read as a fill that succeeded.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "checkers/specification.h"
#include "checkers/specifications/values.h"

namespace falafel::checkers::specifications {

template <typename Element>
struct BasicWriteOnceLog {
  using Value = Element;
  struct Append {
    Value value{};
    friend bool operator==(const Append&, const Append&) = default;
  };
  struct Write {
    std::uint64_t position = 0;
    Value value{};
    friend bool operator==(const Write&, const Write&) = default;
  };
  struct Fill {
    std::uint64_t position = 0;
    friend bool operator==(const Fill&, const Fill&) = default;
  };
  struct Read {
    std::uint64_t position = 0;
    friend bool operator==(const Read&, const Read&) = default;
  };
  struct Result {
    std::uint64_t position = 0;    // append
    bool succeeded = false;        // write, fill
    bool is_hole = false;          // read
    std::optional<Value> value{};  // read: nullopt if the position is unwritten or a hole
    friend bool operator==(const Result&, const Result&) = default;
  };
  using Operation = std::variant<Append, Write, Fill, Read>;

  enum class Mark : std::uint8_t {
    hole,
    taken  // by one of the appends whose position is unknown
  };
  using Slot = std::variant<Value, Mark>;
  // The written positions; and the values, in order, of appends without an answer that no read has
  // found. An append without an answer may take effect late. Its position is therefore only fixed
  // when another answer depends on it.
  using State = std::pair<std::map<std::uint64_t, Slot>, std::vector<Value>>;

  static Result at(std::uint64_t position) { return {.position = position}; }
  static Result yes() { return {.succeeded = true}; }
  static Result no() { return {}; }
  static Result found(Value value) { return {.value = std::move(value)}; }
  static Result hole() { return {.is_hole = true}; }
  static Result unwritten() { return {}; }

  static State initial() { return {}; }

  static bool apply(State& state, const Operation& operation, const Result* result) {
    return std::visit([&](const auto& any) { return apply_one(state, any, result); }, operation);
  }

  // A read that finds a value may fix the position of an append.
  static bool only_reads(const Operation& operation, const Result* result) {
    if (result == nullptr || std::holds_alternative<Append>(operation)) return false;
    return std::holds_alternative<Read>(operation) && !result->value;
  }

  static std::string describe(const Operation& operation, const Result* result) {
    if (const auto* const append = std::get_if<Append>(&operation)) {
      return "append " + describe_value(append->value) + " -> " +
             (result != nullptr ? "position " + std::to_string(result->position) : "?");
    }
    if (const auto* const read = std::get_if<Read>(&operation)) {
      const bool is_hole = result != nullptr && result->is_hole;
      return "read " + std::to_string(read->position) + " " +
             (is_hole ? "-> hole" : describe_found(result != nullptr ? &result->value : nullptr));
    }
    const std::string answer = describe_yes_or_no(result != nullptr ? &result->succeeded : nullptr);
    if (const auto* const write = std::get_if<Write>(&operation)) {
      return "write " + describe_value(write->value) + " at " + std::to_string(write->position) +
             " " + answer;
    }
    return "fill " + std::to_string(std::get<Fill>(operation).position) + " " + answer;
  }

  static std::string describe(const State& state) {
    std::string text;
    for (const auto& [position, slot] : state.first) {
      const auto* const value = std::get_if<Value>(&slot);
      const bool is_hole = slot == Slot(Mark::hole);
      text += (text.empty() ? "" : ", ") + std::to_string(position) + ": ";
      text += value != nullptr ? describe_value(*value) : is_hole ? "hole" : "an unanswered append";
    }
    const std::string unplaced =
        state.second.empty() ? "" : " and somewhere " + describe_values(state.second);
    return "{" + text + "}" + unplaced;
  }

 private:
  static bool apply_one(State& state, const Append& append, const Result* result) {
    if (result != nullptr) return state.first.emplace(result->position, append.value).second;
    auto& unplaced = state.second;
    unplaced.insert(std::ranges::upper_bound(unplaced, append.value), append.value);
    return true;
  }

  static bool apply_one(State& state, const Write& write, const Result* result) {
    if (result != nullptr && !result->succeeded) return is_taken(state, write.position);
    const bool writes = state.first.emplace(write.position, write.value).second;
    return result == nullptr || writes;
  }

  static bool apply_one(State& state, const Fill& fill, const Result* result) {
    if (result != nullptr && !result->succeeded) {
      return is_taken(state, fill.position) && state.first[fill.position] != Slot(Mark::hole);
    }
    const auto [slot, fills] = state.first.emplace(fill.position, Mark::hole);
    return result == nullptr || slot->second == Slot(Mark::hole);
  }

  static bool apply_one(State& state, const Read& read, const Result* result) {
    if (result == nullptr) return true;
    const auto slot = state.first.find(read.position);
    if (!result->value) {
      if (slot == state.first.end()) return !result->is_hole;
      return result->is_hole && slot->second == Slot(Mark::hole);
    }
    if (slot != state.first.end() && slot->second != Slot(Mark::taken)) {
      return slot->second == Slot(*result->value);
    }
    return place(state, read.position, *result->value);
  }

  // An unanswered append of this value has taken the position.
  static bool place(State& state, std::uint64_t position, const Value& value) {
    auto& [slots, unplaced] = state;
    const auto found = std::ranges::find(unplaced, value);
    if (found == unplaced.end()) return false;
    unplaced.erase(found);
    slots[position] = value;
    return marked_as_taken(slots) <= unplaced.size();
  }

  // Returns whether the position can have been taken; if so, it is.
  static bool is_taken(State& state, std::uint64_t position) {
    auto& [slots, unplaced] = state;
    if (slots.contains(position)) return true;
    if (marked_as_taken(slots) >= unplaced.size()) return false;
    slots[position] = Mark::taken;
    return true;
  }

  static std::size_t marked_as_taken(const std::map<std::uint64_t, Slot>& slots) {
    return static_cast<std::size_t>(std::ranges::count_if(
        slots, [](const auto& slot) { return slot.second == Slot(Mark::taken); }));
  }
};

using WriteOnceLog = BasicWriteOnceLog<std::uint64_t>;
static_assert(Specification<WriteOnceLog>);

}  // namespace falafel::checkers::specifications
