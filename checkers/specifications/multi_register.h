// Registers that transactions read and write, several at once: a transaction is a list of accesses,
// which take effect one after the other and at one moment for all others. A register has the value
// `Value{}` unless the initial state says otherwise. A transaction that was rolled back is a
// refused call.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "checkers/specification.h"
#include "checkers/specifications/values.h"

namespace falafel::checkers::specifications {

template <typename Key, typename Element>
struct BasicMultiRegister {
  using Value = Element;
  struct Access {
    Key key{};
    std::optional<Value> written{};  // nullopt: a read
    friend bool operator==(const Access&, const Access&) = default;
  };
  using Operation = std::vector<Access>;
  using Result = std::vector<Value>;  // of the reads, in their order
  // The registers whose value is not Value{}.
  using State = std::map<Key, Value>;

  static Access read(Key key) { return {.key = std::move(key)}; }
  static Access write(Key key, Value value) {
    return {.key = std::move(key), .written = std::move(value)};
  }

  static State initial() { return {}; }

  static bool apply(State& state, const Operation& operation, const Result* result) {
    std::size_t reads = 0;
    for (const Access& access : operation) {
      if (access.written) {
        put(state, access.key, *access.written);
        continue;
      }
      const bool is_right = result == nullptr ||
                            (reads < result->size() && (*result)[reads] == at(state, access.key));
      if (!is_right) return false;
      ++reads;
    }
    return result == nullptr || reads == result->size();
  }

  static bool only_reads(const Operation& operation, const Result* /*result*/) {
    for (const Access& access : operation) {
      if (access.written) return false;
    }
    return true;
  }

  static std::string describe(const Operation& operation, const Result* result) {
    std::string text;
    std::size_t reads = 0;
    for (const Access& access : operation) {
      text += (text.empty() ? "" : ", ") + describe_access(access);
      if (access.written) continue;
      const bool is_known = result != nullptr && reads < result->size();
      text += " -> " + (is_known ? describe_value((*result)[reads]) : "?");
      ++reads;
    }
    return "{" + text + "}";
  }
  static std::string describe(const State& state) {
    std::string text;
    for (const auto& [key, value] : state) {
      text += (text.empty() ? "" : ", ") + describe_value(key) + ": " + describe_value(value);
    }
    return "{" + text + "}";
  }

  // For initial states: the register gets this value.
  static void put(State& state, const Key& key, const Value& value) {
    if (value == Value{}) {
      state.erase(key);
    } else {
      state[key] = value;
    }
  }

 private:
  static Value at(const State& state, const Key& key) {
    const auto found = state.find(key);
    return found == state.end() ? Value{} : found->second;
  }
  static std::string describe_access(const Access& access) {
    if (!access.written) return "read " + describe_value(access.key);
    return "write " + describe_value(access.key) + " " + describe_value(*access.written);
  }
};

using MultiRegister = BasicMultiRegister<std::string, std::uint64_t>;
static_assert(Specification<MultiRegister>);

}  // namespace falafel::checkers::specifications
