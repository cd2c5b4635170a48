// Lookahead for registers of any values, which ValueSupplies (value_supplies.h) knows by number.
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
#include "checkers/value_supplies.h"

namespace falafel::checkers::specifications {

template <typename S, typename State>
class SupplyLookahead {
 public:
  template <typename CallOfS>
  void assign(std::span<const CallOfS> calls) {
    numbers_.clear();
    values_.clear();
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
    const std::uint32_t number = find(before);
    return number == ValueSupplies::no_value ||
           supplies_.may_be_overwritten(number, calls_[call].needed);
  }

 private:
  // The numbers of the values that a call needs and may write.
  struct Values {
    std::uint32_t needed;
    std::uint32_t written;
  };

  std::uint32_t number_of(const std::optional<State>& value) {
    if (!value) return ValueSupplies::no_value;
    if (const std::uint32_t known = find(*value); known != ValueSupplies::no_value) return known;
    const auto number = static_cast<std::uint32_t>(values_.size());
    numbers_.emplace(hash_of(*value), number);
    values_.push_back(*value);
    supplies_.reset(number);
    return number;
  }

  std::uint32_t find(const State& value) const {
    const auto [begin, end] = numbers_.equal_range(hash_of(value));
    for (auto candidate = begin; candidate != end; ++candidate) {
      if (values_[candidate->second] == value) return candidate->second;
    }
    return ValueSupplies::no_value;
  }

  void count(const Values& values, std::int32_t change) {
    supplies_.count(values.needed, values.written, change);
  }

  std::multimap<std::uint64_t, std::uint32_t> numbers_;  // by the hash of the value
  std::vector<State> values_;                            // by number
  ValueSupplies supplies_;
  std::vector<Values> calls_;
};

}  // namespace falafel::checkers::specifications
