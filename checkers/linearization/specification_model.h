// A sequential specification as a model of the search. States are numbered in the order in which
// the search reaches them, and the results of apply() are remembered.
//
// If the specification has next_states(), a state of the model is a set: all states that the object
// may have after the operations ordered so far. An answer is wrong if the set would be empty.
#pragma once

#include <algorithm>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "checkers/hash.h"
#include "checkers/linearization/mix.h"
#include "checkers/linearization/model.h"
#include "checkers/linearization/timeline.h"
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

// Indeterminate calls of equal operations have the same number.
template <Specification S>
struct SpecificationTransition {
  std::uint32_t number = 0;
  const Call<S>* call = nullptr;

  friend bool operator==(const SpecificationTransition& left,
                         const SpecificationTransition& right) {
    return left.number == right.number;
  }
  friend std::strong_ordering operator<=>(const SpecificationTransition& left,
                                          const SpecificationTransition& right) {
    return left.number <=> right.number;
  }
};

template <Specification S>
struct LookaheadCall {
  const typename S::Operation* operation;
  const typename S::Result* result;  // null: the answer is unknown, or does not matter
};

template <Specification S>
class SpecificationModel;

// Adapts a specification's own lookahead, a class with these members:
//   void assign(std::span<const LookaheadCall<S>> calls)
//       The calls of one object, by call time. None of them is ordered yet.
//   void order(std::size_t call), void undo(std::size_t call)
//       The call becomes the next one in the order, or no longer is. The last one is undone first.
//   bool may_follow(const State& before, std::size_t call, const State& after) const
//       Whether a correct order may continue with the call, which leads from `before` to `after`;
//       true if in doubt.
template <Specification S>
class SpecificationLookahead {
 public:
  using Timeline = linearization::Timeline<SpecificationTransition<S>>;
  using TimedOperation = linearization::TimedOperation<SpecificationTransition<S>>;

  // Ignores the answers of operations that return at or after the horizon.
  void assign(const Timeline& timeline, std::size_t horizon) {
    if constexpr (LooksAhead<S>) {
      timeline_ = &timeline;
      calls_.clear();
      for (const TimedOperation& operation : timeline.operations()) {
        const Call<S>& call = *operation.transition.call;
        calls_.push_back({&call.operation, operation.rank < horizon ? call.answer() : nullptr});
      }
      lookahead_.assign(std::span<const LookaheadCall<S>>(calls_));
    }
  }

  void order(std::uint32_t operation) {
    if constexpr (LooksAhead<S>) lookahead_.order(operation);
  }
  void undo(std::uint32_t operation) {
    if constexpr (LooksAhead<S>) lookahead_.undo(operation);
  }

  Prospect prospect(const SpecificationModel<S>& model, std::uint32_t /*rank*/,
                    const TimedOperation& operation, State before, State after) const {
    if constexpr (LooksAhead<S>) {
      const auto call = static_cast<std::size_t>(&operation - timeline_->operations().data());
      const bool may_follow = lookahead_.may_follow(model.state(before).possible(), call,
                                                    model.state(after).possible());
      return may_follow ? Prospect::good : Prospect::excluded;
    } else {
      return Prospect::good;
    }
  }

 private:
  struct NoLookahead {};
  template <typename T>
  struct LookaheadOf {
    using Type = NoLookahead;
  };
  template <LooksAhead T>
  struct LookaheadOf<T> {
    using Type = typename T::Lookahead;
  };

  const Timeline* timeline_ = nullptr;
  std::vector<LookaheadCall<S>> calls_;
  typename LookaheadOf<S>::Type lookahead_;
};

template <Specification S>
class SpecificationModel {
 public:
  using Transition = SpecificationTransition<S>;
  using Lookahead = SpecificationLookahead<S>;

  explicit SpecificationModel(typename S::State initial) : initial_(std::move(initial)) {}

  // The state of each object before its first operation.
  const typename S::State& initial_state() const { return initial_; }

  void begin() {
    states_.clear();
    numbers_.clear();
    next_.clear();
    number_of(KnownState<S>(initial_));
  }

  static State initial() { return 0; }

  State apply(State state, const Transition& transition) {
    const std::uint64_t step = std::uint64_t{state} << 32U | transition.number;
    const auto known = next_.find(step);
    if (known != next_.end()) return known->second;
    KnownState<S> next = states_[state];
    const State number = next.apply(*transition.call) ? number_of(std::move(next)) : impossible;
    next_.emplace(step, number);
    return number;
  }

  static bool only_reads(const Transition& transition) {
    if constexpr (KnowsReads<S>) {
      return S::only_reads(transition.call->operation, transition.call->answer());
    } else {
      return false;
    }
  }

  const KnownState<S>& state(State number) const { return states_[number]; }

  // An estimate: what states allocate themselves is not included.
  std::uint64_t memory_bytes() const {
    constexpr std::uint64_t entry_bytes = 64;
    return states_.size() * (sizeof(KnownState<S>) + entry_bytes) + next_.size() * entry_bytes;
  }

 private:
  State number_of(KnownState<S> state) {
    const std::uint64_t hash = state.hash();
    const auto [begin, end] = numbers_.equal_range(hash);
    for (auto candidate = begin; candidate != end; ++candidate) {
      if (states_[candidate->second] == state) return candidate->second;
    }
    const auto number = static_cast<State>(states_.size());
    states_.push_back(std::move(state));
    numbers_.emplace(hash, number);
    return number;
  }

  typename S::State initial_;
  std::deque<KnownState<S>> states_;             // never copied, unlike the elements of a vector
  std::multimap<std::uint64_t, State> numbers_;  // by hash
  std::map<std::uint64_t, State> next_;          // by state and transition
};

}  // namespace falafel::checkers::linearization
