// Lookahead for registers: an order must not overwrite a value that an answer still needs if no
// remaining operation can write it again. With this lookahead, histories in which all values differ
// need almost no search.
//
// The specification's state is the value, and it has these members:
//   std::optional<Value> needed_value(operation, result)    the value that the answer needs
//   std::optional<Value> written_value(operation, result)   the value that it may leave behind
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "checkers/hash.h"

namespace falafel::checkers::specifications {

template <typename S, typename State>
class SupplyLookahead {
 public:
  template <typename CallOfS>
  void assign(std::span<const CallOfS> calls) {
    numbers_.clear();
    supplies_.clear();
    calls_.clear();
    for (const CallOfS& call : calls) {
      calls_.push_back({number_of(S::needed_value(*call.operation, call.result)),
                        number_of(S::written_value(*call.operation, call.result))});
      count(calls_.back(), 1);
    }
  }

  void order(std::size_t call) { count(calls_[call], -1); }
  void undo(std::size_t call) { count(calls_[call], 1); }

  bool may_follow(const State& before, std::size_t call, const State& after) const {
    if (before == after) return true;
    const std::optional<std::size_t> number = find(before);
    if (!number) return true;
    const Supply& supply = supplies_[*number];
    const bool needs_it = calls_[call].needed == *number;
    return supply.writers > 0 || supply.readers <= (needs_it ? 1 : 0);
  }

 private:
  // Counts operations that are not yet ordered.
  struct Supply {
    State value;
    std::int64_t readers = 0;  // need the value
    std::int64_t writers = 0;  // may write the value
  };
  struct Values {
    std::optional<std::size_t> needed;
    std::optional<std::size_t> written;
  };

  std::optional<std::size_t> number_of(const std::optional<State>& value) {
    if (!value) return std::nullopt;
    if (const std::optional<std::size_t> known = find(*value)) return known;
    numbers_.emplace(hash_of(*value), supplies_.size());
    supplies_.push_back({.value = *value});
    return supplies_.size() - 1;
  }

  std::optional<std::size_t> find(const State& value) const {
    const auto [begin, end] = numbers_.equal_range(hash_of(value));
    for (auto candidate = begin; candidate != end; ++candidate) {
      if (supplies_[candidate->second].value == value) return candidate->second;
    }
    return std::nullopt;
  }

  void count(const Values& values, std::int64_t change) {
    if (values.needed) supplies_[*values.needed].readers += change;
    if (values.written) supplies_[*values.written].writers += change;
  }

  std::multimap<std::uint64_t, std::size_t> numbers_;  // by the hash of the value
  std::vector<Supply> supplies_;                       // by number
  std::vector<Values> calls_;
};

}  // namespace falafel::checkers::specifications
