// The search for an order of the operations on one key: that of Wing and Gong, with Lowe's just-in-time
// linearization and his memory of the configurations that were visited before.
//
// Events not yet explained stand in a doubly linked list. The next operation in order is one that is
// called before the list's first return: that one's operation, the frontier, must be ordered before the
// search can pass its return. Ordering an operation takes its two events out of the list; going back
// puts them in again. Everything that returns before the frontier has been ordered, so that a
// configuration is the frontier's rank, the state, and which of the operations under way at that
// time were ordered early: one bit for each.
//
// What is not tried, because trying something else is as good:
// - anything but a read whose answer is right now (it could as well come first);
// - an indeterminate operation that changes nothing now, or before an earlier one just like it;
// - what the model's lookahead excludes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "checkers/linearizability.h"
#include "checkers/linearization/configuration_set.h"
#include "checkers/linearization/timeline.h"
#include "checkers/linearization/transition.h"

namespace falafel::checkers::linearization {

enum class SearchOutcome : std::uint8_t { order_found, no_order, out_of_steps, out_of_memory };

template <typename Model>
class Search {
 public:
  // Looks for an order of all operations; with a horizon, only until so many have returned.
  SearchOutcome run(const Timeline& timeline, Model& model, const LinearizabilityLimits& limits,
                    std::size_t horizon) {
    timeline_ = &timeline;
    model_ = &model;
    limits_ = limits;
    horizon_ = horizon;
    state_ = model.initial();
    rank_ = 0;
    furthest_rank_ = 0;
    steps_ = 0;
    frames_.clear();
    early_.assign(timeline.slots() / 64 + 1, 0);
    configurations_.clear(early_.size(), timeline.operations().size());
    lookahead_.assign(timeline, horizon);
    link_events();
    const SearchOutcome outcome = explore();
    if (outcome == SearchOutcome::order_found && horizon < timeline.returns().size()) add_reads();
    return outcome;
  }

  // How many operations had returned when the search could get no further.
  std::size_t furthest_rank() const { return furthest_rank_; }

  std::uint64_t steps() const { return steps_; }

  // The operations that are ordered, in their order.
  std::vector<std::uint32_t> prefix() const {
    std::vector<std::uint32_t> operations;
    for (const Frame& frame : frames_) operations.push_back(frame.operation);
    return operations;
  }

  // After an order up to a horizon was found: what was under way then and is not ordered. First the
  // operation that returns next, then the others by their calls.
  std::vector<std::uint32_t> under_way() const {
    const std::uint32_t next = timeline_->returns()[rank_];
    std::vector<std::uint32_t> operations{next};
    for (std::uint32_t event = next_[head]; !is_return(event); event = next_[event]) {
      if (operation_at(event) != next) operations.push_back(operation_at(event));
    }
    return operations;
  }

 private:
  static constexpr std::uint32_t head = 0;  // of the list; event e is number e + 1 in it

  // How promising it is to order an operation next.
  enum class Group : std::uint8_t {
    read,  // its answer is right: nothing else has to be tried
    frontier,
    enabler,  // the frontier's answer is right afterwards
    indeterminate_enabler,
    other,
    indeterminate_other,
    poor,  // of which the lookahead warns
    nothing,
  };

  struct Choice {
    std::uint32_t operation = none;
    State state = impossible;  // afterwards
    Group group = Group::nothing;
  };

  struct Frame {
    std::uint32_t operation;
    std::uint32_t rank;  // of the frontier before
    State state;         // before
    Group group;
  };

  void link_events() {
    const auto count = static_cast<std::uint32_t>(timeline_->events().size()) + 1;
    next_.resize(count);
    previous_.resize(count);
    for (std::uint32_t event = 0; event < count; ++event) {
      next_[event] = event + 1 < count ? event + 1 : head;
      previous_[event] = event == head ? count - 1 : event - 1;
    }
  }

  SearchOutcome explore() {
    Choice tried;  // in this configuration; none: nothing yet
    while (rank_ < horizon_) {
      const Choice choice = next_choice(tried);
      if (steps_ > limits_.steps) return SearchOutcome::out_of_steps;
      if (choice.operation == none) {
        if (!go_back(tried)) return SearchOutcome::no_order;
        continue;
      }
      order(choice);
      tried = {};
      if (choice.group == Group::read) continue;
      if (is_out_of_memory()) return SearchOutcome::out_of_memory;
      if (!configurations_.insert(rank_, state_, early_)) tried = undo();
    }
    return SearchOutcome::order_found;
  }

  // That are under way at the horizon and whose answers are right, so that they are not suspected.
  void add_reads() {
    for (;;) {
      const Choice choice = next_choice({});
      if (choice.group != Group::read) return;
      order(choice);
      if (rank_ == timeline_->returns().size()) return;
    }
  }

  // To the last choice that had alternatives. A read had none.
  bool go_back(Choice& tried) {
    do {
      if (frames_.empty()) return false;
      tried = undo();
    } while (tried.group == Group::read);
    return true;
  }

  bool is_out_of_memory() const {
    return configurations_.next_memory_bytes() + model_->memory_bytes() > limits_.memory_bytes;
  }

  // The most promising operation after the one that was tried last, by group and then by call.
  Choice next_choice(const Choice& tried) {
    const bool is_first = tried.operation == none;
    frontier_ = timeline_->returns()[rank_];
    frontier_fits_ = model_->apply(state_, transition_of(frontier_)) != impossible;
    Choice best;
    for (std::uint32_t event = next_[head]; !is_return(event); event = next_[event]) {
      ++steps_;
      const std::uint32_t index = operation_at(event);
      const TimedOperation& operation = timeline_->operations()[index];
      if (model_->only_reads(operation.transition)) {
        if (!is_first) continue;  // it was not right then, either
        if (model_->apply(state_, operation.transition) == impossible) continue;
        return {index, state_, Group::read};
      }
      const Choice choice = choice_of(index, operation);
      const bool is_later = is_first || choice.group > tried.group ||
                            (choice.group == tried.group && choice.operation > tried.operation);
      if (is_later && choice.group < best.group) best = choice;
    }
    return best;
  }

  // Nothing if its answer would not be right or it need not be tried.
  Choice choice_of(std::uint32_t index, const TimedOperation& operation) {
    if (operation.twin != none && !is_early(operation.twin)) return {};
    const State state = model_->apply(state_, operation.transition);
    if (state == impossible || (operation.is_indeterminate() && state == state_)) return {};
    const Prospect prospect = lookahead_.prospect(*model_, rank_, operation, state_, state);
    if (prospect == Prospect::none) return {};
    if (prospect == Prospect::poor) return {index, state, Group::poor};
    if (prospect == Prospect::unseen) return {index, unseen_state, Group::poor};
    return {index, state, group_of(index, operation, state)};
  }

  Group group_of(std::uint32_t index, const TimedOperation& operation, State state) {
    if (index == frontier_) return Group::frontier;
    const bool enables =
        !frontier_fits_ && model_->apply(state, transition_of(frontier_)) != impossible;
    if (operation.is_indeterminate()) {
      return enables ? Group::indeterminate_enabler : Group::indeterminate_other;
    }
    return enables ? Group::enabler : Group::other;
  }

  void order(const Choice& choice) {
    const TimedOperation& operation = timeline_->operations()[choice.operation];
    frames_.push_back({choice.operation, rank_, state_, choice.group});
    state_ = choice.state;
    lookahead_.order(choice.operation);
    unlink(operation.call_event + 1);
    set_early(choice.operation);
    if (operation.is_indeterminate()) return;
    unlink(operation.return_event + 1);
    while (rank_ < timeline_->returns().size() && is_early(timeline_->returns()[rank_])) {
      clear_early(timeline_->returns()[rank_++]);
    }
    furthest_rank_ = std::max(furthest_rank_, rank_);
  }

  // Takes back the last order(); returns what it had been called with, without the state.
  Choice undo() {
    const Frame frame = frames_.back();
    frames_.pop_back();
    while (rank_ > frame.rank) set_early(timeline_->returns()[--rank_]);
    clear_early(frame.operation);
    const TimedOperation& operation = timeline_->operations()[frame.operation];
    if (!operation.is_indeterminate()) relink(operation.return_event + 1);
    relink(operation.call_event + 1);
    state_ = frame.state;
    lookahead_.undo(frame.operation);
    return {frame.operation, impossible, frame.group};
  }

  void unlink(std::uint32_t event) {
    next_[previous_[event]] = next_[event];
    previous_[next_[event]] = previous_[event];
  }
  void relink(std::uint32_t event) {
    next_[previous_[event]] = event;
    previous_[next_[event]] = event;
  }

  bool is_return(std::uint32_t event) const { return timeline_->events()[event - 1].is_return; }
  std::uint32_t operation_at(std::uint32_t event) const {
    return timeline_->events()[event - 1].operation;
  }
  const Transition& transition_of(std::uint32_t operation) const {
    return timeline_->operations()[operation].transition;
  }

  // Only of an operation that was called before the frontier returns: others share its slot.
  bool is_early(std::uint32_t operation) const {
    const std::uint32_t slot = timeline_->operations()[operation].slot;
    return (early_[slot / 64] >> slot % 64 & 1U) != 0;
  }
  void set_early(std::uint32_t operation) {
    const std::uint32_t slot = timeline_->operations()[operation].slot;
    early_[slot / 64] |= std::uint64_t{1} << slot % 64;
  }
  void clear_early(std::uint32_t operation) {
    const std::uint32_t slot = timeline_->operations()[operation].slot;
    early_[slot / 64] &= ~(std::uint64_t{1} << slot % 64);
  }

  const Timeline* timeline_ = nullptr;
  Model* model_ = nullptr;
  LinearizabilityLimits limits_;
  typename Model::Lookahead lookahead_;

  // The configuration, and how it came about.
  std::vector<std::uint32_t> next_;
  std::vector<std::uint32_t> previous_;
  State state_ = 0;
  std::uint32_t rank_ = 0;
  std::vector<std::uint64_t> early_;  // by slot: ordered, of those not returned before the frontier
  std::vector<Frame> frames_;
  ConfigurationSet configurations_;

  // What holds for all choices in a configuration.
  std::uint32_t frontier_ = none;
  bool frontier_fits_ = false;  // its answer would be right now

  std::size_t horizon_ = 0;
  std::uint32_t furthest_rank_ = 0;
  std::uint64_t steps_ = 0;
};

}  // namespace falafel::checkers::linearization
