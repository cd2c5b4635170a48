// A string that is empty at first: get, set (of the whole string), append.
//
// A state is a node of a tree: its string is that of its parent and one piece more. The pieces are
// values of the history, so that no string is ever put together. Equal strings made of different
// pieces are different states, which costs time at worst.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "checkers/linearization/next_get_lookahead.h"
#include "checkers/linearization/transition.h"

namespace falafel::checkers::linearization {

class AppendLog {
 public:
  static constexpr bool merges_unobserved_values = false;
  using Lookahead = NextGetLookahead<AppendLog>;

  // Forgets all states. `values` are the strings that transitions mean by their numbers.
  void clear(std::span<const std::string_view> values);

  static State initial() { return empty; }
  State apply(State state, const Transition& transition);
  static bool only_reads(const Transition& transition) {
    return transition.kind == OperationKind::get;
  }
  static bool overwrites(const Transition& transition) {
    return transition.kind == OperationKind::set;
  }

  // Whether appends can lead from the state to what the get found; true if in doubt.
  // Looks only at the last piece: the earlier ones were looked at when they were appended.
  bool may_become(State state, const Transition& get) const;
  bool may_become(const Transition& set, const Transition& get) const {
    return value(get.value).starts_with(value(set.value));
  }

  std::uint64_t memory_bytes() const;

 private:
  struct Node {
    State parent = empty;
    std::uint32_t piece = absent;
    std::size_t length_bytes = 0;
  };
  static constexpr State empty = 0;

  std::string_view value(std::uint32_t number) const { return values_[number - first_value]; }
  std::string_view piece(State state) const;
  bool equals(State state, std::string_view expected) const;
  State extended(State parent, std::uint32_t piece);
  std::size_t slot_of(State parent, std::uint32_t piece) const;
  void grow();

  std::span<const std::string_view> values_;
  std::vector<Node> nodes_;
  std::vector<State> children_;  // hash table of nodes by parent and piece; empty: a free slot
};

}  // namespace falafel::checkers::linearization
