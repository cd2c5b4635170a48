// The definition of linearizability by a specification as a program: tries all orders that respect
// time. Shares no code with the checker. Takes time exponential in the number of operations.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "checkers/specification_history.h"

namespace falafel::checkers_test {

template <checkers::Specification S>
class SpecificationOracle {
 public:
  explicit SpecificationOracle(std::span<const checkers::Call<S>> history) : history_(history) {
    for (const checkers::Call<S>& call : history) is_done_.push_back(call.is_refused);
  }

  bool is_linearizable() { return can_continue(S::initial()); }

 private:
  using State = typename S::State;

  bool can_continue(const State& state) {
    bool is_complete = true;
    for (std::size_t index = 0; index < history_.size(); ++index) {
      if (is_done_[index]) continue;
      is_complete = is_complete && !history_[index].result;
      if (may_be_next(index) && can_continue_with(index, state)) return true;
    }
    return is_complete;
  }

  bool may_be_next(std::size_t candidate) const {
    for (std::size_t index = 0; index < history_.size(); ++index) {
      const bool must_precede = !is_done_[index] && history_[index].result &&
                                history_[index].return_time < history_[candidate].call_time;
      if (must_precede) return false;
    }
    return true;
  }

  bool can_continue_with(std::size_t index, const State& state) {
    is_done_[index] = true;
    bool result = false;
    for (const State& next : states_after(history_[index], state)) {
      result = result || can_continue(next);
    }
    is_done_[index] = false;
    return result;
  }

  static std::vector<State> states_after(const checkers::Call<S>& call, const State& state) {
    std::vector<State> next;
    if constexpr (checkers::NondeterministicSpecification<S>) {
      S::next_states(state, call.operation, call.answer(), next);
    } else {
      State after = state;
      if (S::apply(after, call.operation, call.answer())) next.push_back(after);
    }
    return next;
  }

  std::span<const checkers::Call<S>> history_;
  std::vector<bool> is_done_;
};

// Judges every part of the history as the definition does.
template <checkers::Specification S>
bool is_linearizable(std::span<const checkers::Call<S>> history) {
  if constexpr (!checkers::PartitionedSpecification<S>) {
    return SpecificationOracle<S>(history).is_linearizable();
  } else {
    std::vector<checkers::Call<S>> left(history.begin(), history.end());
    while (!left.empty()) {
      const std::string name = S::partition(left.front().operation);
      std::vector<checkers::Call<S>> part;
      std::erase_if(left, [&](const checkers::Call<S>& call) {
        if (S::partition(call.operation) != name) return false;
        part.push_back(call);
        return true;
      });
      if (!SpecificationOracle<S>(part).is_linearizable()) return false;
    }
    return true;
  }
}

}  // namespace falafel::checkers_test
