// A string that is initially empty: get, set (of the whole string), append.
//
// A state is a node of a tree. Its string is the parent's string followed by one piece. Pieces are
// values of the history, so the checker never concatenates strings. Equal strings that consist of
// different pieces are different states; this costs time but not correctness.
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
  using Transition = linearization::Transition;
  static constexpr bool merges_unobserved_values = false;
  using Lookahead = NextGetLookahead<AppendLog>;

  // Transitions refer to the strings in `values` by number.
  void use_values(std::span<const std::string_view> values) { values_ = values; }

  void begin();
  static State initial() { return empty; }
  State apply(State state, const Transition& transition);
  static bool only_reads(const Transition& transition) {
    return transition.kind == OperationKind::get;
  }
  static bool overwrites(const Transition& transition) {
    return transition.kind == OperationKind::set;
  }

  // Returns whether appends can lead from the state to the value that the get found; true if in
  // doubt. It compares only the last piece, because the earlier ones were compared when they were
  // appended.
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
  // hash table of nodes by parent and piece; an empty element is a free slot
  std::vector<State> children_;
};

}  // namespace falafel::checkers::linearization
