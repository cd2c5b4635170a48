// A sequential specification, and a history of calls, as the model of an object. Its functions are
// the only part of a check that is compiled for each specification.
//
// If the specification has next_states(), a state of the model is a set: all states that the object
// may have after the operations ordered so far. An answer is wrong if the set would be empty.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "checkers/call_outline.h"
#include "checkers/hash.h"
#include "checkers/linearization/mix.h"
#include "checkers/linearization/model.h"
#include "checkers/linearization/object_model.h"
#include "checkers/specification.h"
#include "checkers/specification_history.h"

namespace falafel::checkers::linearization {

// The knowledge of an object's state: the state, or the set of the possible ones.
template <Specification S>
class KnownState {
 public:
  static constexpr bool is_set = NondeterministicSpecification<S>;
  using State = typename S::State;

  explicit KnownState(const State& initial) : possible_(make_initial(initial)) {}

  // Returns whether the answer is right; if not, the state is meaningless afterwards.
  bool apply(const Call<S>& call) {
    if constexpr (is_set) {
      std::vector<State> next;
      for (const State& state : possible_) {
        S::next_states(state, call.operation, call.answer(), next);
      }
      possible_.clear();
      for (State& state : next) {
        if (!contains(state)) possible_.push_back(std::move(state));
      }
      return !possible_.empty();
    } else {
      return S::apply(possible_, call.operation, call.answer());
    }
  }

  std::uint64_t hash() const {
    if constexpr (is_set) {
      std::uint64_t hash = 0;  // does not depend on the order of the states
      for (const State& state : possible_) hash += mix(hash_of_state<S>(state));
      return hash;
    } else {
      return hash_of_state<S>(possible_);
    }
  }

  friend bool operator==(const KnownState& left, const KnownState& right) {
    if constexpr (is_set) {
      return left.possible_.size() == right.possible_.size() &&
             std::ranges::all_of(left.possible_,
                                 [&](const State& state) { return right.contains(state); });
    } else {
      return left.possible_ == right.possible_;
    }
  }

  const auto& possible() const { return possible_; }

  // Completes "Now ...": "the state is [1, 2]".
  std::string describe() const {
    if constexpr (!DescribesStates<S>) {
      return "the object has the state that this order leaves";
    } else if constexpr (is_set) {
      std::string text;
      for (const State& state : possible_)
        text += (text.empty() ? "" : " or ") + S::describe(state);
      return "the state is " + text;
    } else {
      return "the state is " + S::describe(possible_);
    }
  }

 private:
  static auto make_initial(const State& initial) {
    if constexpr (is_set) {
      return std::vector<State>{initial};
    } else {
      return initial;
    }
  }

  bool contains(const State& state) const requires is_set {
    return std::ranges::find(possible_, state) != possible_.end();
  }

  std::conditional_t<is_set, std::vector<State>, State> possible_;
};

template <Specification S>
struct LookaheadCall {
  const typename S::Operation* operation;
  const typename S::Result* result;  // null: the answer is unknown, or does not matter
};

// Adapts a specification's own lookahead, a class with these members:
//   void assign(std::span<const LookaheadCall<S>> calls)
//       The calls of one object, by call time. None of them is ordered yet.
//   void order(std::size_t call), void undo(std::size_t call)
//       The call becomes the next one in the order, or no longer is. The last one is undone first.
//   bool may_follow(const State& before, std::size_t call, const State& after) const
//       True if a correct order may continue with the call, which leads from `before` to `after`;
//       true if in doubt.
template <Specification S>
class SpecificationLookahead {
 public:
  void assign(std::span<const Call<S>> /*history*/, std::span<const PlannedCall> /*planned*/) {}
  void order(std::size_t /*planned*/) {}
  void undo(std::size_t /*planned*/) {}
  bool may_follow(const auto& /*before*/, std::size_t /*planned*/, const auto& /*after*/) const {
    return true;
  }
};

template <Specification S>
requires LooksAhead<S>
class SpecificationLookahead<S> {
 public:
  void assign(std::span<const Call<S>> history, std::span<const PlannedCall> planned) {
    calls_.clear();
    for (const auto& [number, ignores_answer] : planned) {
      const Call<S>& call = history[number];
      calls_.push_back({&call.operation, ignores_answer ? nullptr : call.answer()});
    }
    lookahead_.assign(std::span<const LookaheadCall<S>>(calls_));
  }
  void order(std::size_t planned) { lookahead_.order(planned); }
  void undo(std::size_t planned) { lookahead_.undo(planned); }
  bool may_follow(const typename S::State& before, std::size_t planned,
                  const typename S::State& after) const {
    return lookahead_.may_follow(before, planned, after);
  }

 private:
  std::vector<LookaheadCall<S>> calls_;
  typename S::Lookahead lookahead_;
};

template <Specification S>
class SpecificationModel final : public ObjectModel {
 public:
  explicit SpecificationModel(typename S::State initial) : initial_(std::move(initial)) {}

  // The state of each object before its first operation.
  const typename S::State& initial_state() const { return initial_; }

  // The history must outlive its use here.
  void assign(std::span<const Call<S>> history) { history_ = history; }

  std::size_t calls() const override { return history_.size(); }

  CallOutline outline(std::size_t call) const override { return outline_of(history_[call]); }

  bool only_reads(std::size_t number) const override {
    if constexpr (KnowsReads<S>) {
      return S::only_reads(history_[number].operation, history_[number].answer());
    } else {
      return false;
    }
  }

  std::string describe(std::size_t call) const override {
    return checkers::describe(history_[call]);
  }

  bool compares_operations() const override {
    return std::equality_comparable<typename S::Operation>;
  }
  bool are_equal(std::size_t call, std::size_t other) const override {
    if constexpr (std::equality_comparable<typename S::Operation>) {
      return history_[call].operation == history_[other].operation;
    } else {
      return false;
    }
  }

  bool has_parts() const override { return PartitionedSpecification<S>; }
  std::string part(std::size_t call) const override {
    if constexpr (PartitionedSpecification<S>) {
      return S::partition(history_[call].operation);
    } else {
      return {};
    }
  }

  void forget_states() override {
    states_.clear();
    numbers_.clear();
    number_of(KnownState<S>(initial_));
  }

  State step(State before, std::size_t call) override {
    KnownState<S> next = *states_[before];
    return next.apply(history_[call]) ? number_of(std::move(next)) : impossible;
  }

  std::uint64_t states_bytes() const override {
    constexpr std::uint64_t entry_bytes = 64;
    return states_.size() * (sizeof(KnownState<S>) + entry_bytes);
  }

  std::string describe_state_after(std::span<const std::size_t> calls) const override {
    KnownState<S> state(initial_);
    for (const std::size_t call : calls) state.apply(history_[call]);
    return state.describe();
  }

  bool looks_ahead() const override { return LooksAhead<S>; }
  void plan(std::span<const PlannedCall> calls) override { lookahead_.assign(history_, calls); }
  void order(std::size_t planned) override { lookahead_.order(planned); }
  void undo(std::size_t planned) override { lookahead_.undo(planned); }
  bool may_follow(State before, std::size_t planned, State after) const override {
    return lookahead_.may_follow(states_[before]->possible(), planned, states_[after]->possible());
  }

 private:
  State number_of(KnownState<S> state) {
    const std::uint64_t hash = state.hash();
    const auto [begin, end] = numbers_.equal_range(hash);
    for (auto candidate = begin; candidate != end; ++candidate) {
      if (*states_[candidate->second] == state) return candidate->second;
    }
    const auto number = static_cast<State>(states_.size());
    states_.push_back(std::make_unique<KnownState<S>>(std::move(state)));
    numbers_.emplace(hash, number);
    return number;
  }

  typename S::State initial_;
  std::span<const Call<S>> history_;
  std::vector<std::unique_ptr<KnownState<S>>> states_;
  std::multimap<std::uint64_t, State> numbers_;  // by hash
  SpecificationLookahead<S> lookahead_;
};

}  // namespace falafel::checkers::linearization
