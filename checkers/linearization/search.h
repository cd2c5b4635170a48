// Searches for an order of the operations on one object with the algorithm of Wing and Gong,
// extended by Lowe's just-in-time linearization and his cache of visited configurations.
//
// A doubly linked list holds the events that are not yet explained. The next operation in the order
// must have its call before the first return in the list. The operation of that first return is the
// frontier; it must be ordered before the search can pass its return. Ordering an operation removes
// its two events from the list, and backtracking reinserts them. Every operation that returns
// before the frontier has been ordered. A configuration is therefore the frontier's rank, the
// state, and one bit for each operation that was pending at that time, which tells whether it was
// ordered early.
//
// The search skips candidates when another choice is at least as good:
// - any candidate other than a read whose answer is correct now, because that read can come first;
// - an indeterminate operation that changes nothing now, or that follows an identical one;
// - candidates that the model's lookahead excludes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "checkers/linearizability_report.h"
#include "checkers/linearization/configuration_set.h"
#include "checkers/linearization/memory_watch.h"
#include "checkers/linearization/model.h"
#include "checkers/linearization/timeline.h"

namespace falafel::checkers::linearization {

enum class SearchOutcome : std::uint8_t { order_found, no_order, out_of_steps, out_of_memory };

template <typename Model>
class Search {
 public:
  using Transition = typename Model::Transition;
  using Timeline = linearization::Timeline<Transition>;
  using TimedOperation = linearization::TimedOperation<Transition>;

  // Searches for an order of all operations, or of those that are needed until `horizon` operations
  // have returned.
  SearchOutcome run(const Timeline& timeline, Model& model, const LinearizabilityLimits& limits,
                    std::size_t horizon) {
    timeline_ = &timeline;
    model_ = &model;
    limits_ = limits;
    horizon_ = horizon;
    model.begin();
    state_ = model.initial();
    rank_ = 0;
    furthest_rank_ = 0;
    steps_ = 0;
    is_memory_exhausted_ = false;
    frames_.clear();
    early_.assign(timeline.slots() / 64 + 1, 0);
    configurations_.clear(early_.size(), timeline.operations().size());
    lookahead_.assign(model, timeline, horizon);
    link_events();
    watch_.begin(limits.process_memory, limits.memory_bytes);
    const SearchOutcome outcome = explore();
    if (outcome == SearchOutcome::order_found && horizon < timeline.returns().size()) add_reads();
    return outcome;
  }

  // The highest number of returned operations that the search reached.
  std::size_t furthest_rank() const { return furthest_rank_; }

  std::uint64_t steps() const { return steps_; }

  // The ordered operations, in their order.
  std::vector<std::uint32_t> prefix() const {
    std::vector<std::uint32_t> operations;
    operations.reserve(frames_.size());
    for (const Frame& frame : frames_) operations.push_back(frame.operation);
    return operations;
  }

  // The operations that are pending and not ordered, after an order up to a horizon was found. The
  // operation that returns next is first; the others are sorted by call.
  std::vector<std::uint32_t> under_way() const {
    const std::uint32_t next = timeline_->returns()[rank_];
    std::vector<std::uint32_t> operations{next};
    for (std::uint32_t event = next_[head]; !is_return(event); event = next_[event]) {
      if (operation_at(event) != next) operations.push_back(operation_at(event));
    }
    return operations;
  }

 private:
  static constexpr std::uint32_t head = 0;  // of the list; event e is list element e + 1

  // The rank of an operation as the next one: the earlier, the more promising.
  enum class Group : std::uint8_t {
    read,  // its answer is correct now, so no alternative is needed
    frontier,
    enabler,  // makes the frontier's answer correct
    indeterminate_enabler,
    other,
    indeterminate_other,
    poor,  // the lookahead advises against it
    nothing,
  };

  struct Choice {
    std::uint32_t operation = none;
    State state = impossible;  // after the operation
    Group group = Group::nothing;
  };

  struct Frame {
    std::uint32_t operation;
    std::uint32_t rank;  // of the frontier before the choice
    State state;         // before the choice
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
    Choice tried;  // the last choice tried in this configuration; none: not yet tried
    while (rank_ < horizon_) {
      const Choice choice = next_choice(tried);
      if (steps_ > limits_.steps) return SearchOutcome::out_of_steps;
      if (is_memory_exhausted_) return SearchOutcome::out_of_memory;
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

  // Adds the operations still pending at the horizon whose answers are already consistent, so the
  // explanation does not list them as unfitting.
  void add_reads() {
    for (;;) {
      const Choice choice = next_choice({});
      if (choice.group != Group::read) return;
      order(choice);
      if (rank_ == timeline_->returns().size()) return;
    }
  }

  // Backtracks to the last choice that had alternatives. Reads have none.
  bool go_back(Choice& tried) {
    do {
      if (frames_.empty()) return false;
      tried = undo();
    } while (tried.group == Group::read);
    return true;
  }

  bool is_out_of_memory() {
    const std::uint64_t estimate = configurations_.next_memory_bytes() + model_->memory_bytes();
    if (estimate > limits_.memory_bytes) return true;
    const std::uint64_t growth = configurations_.growth_bytes();
    return growth > 0 && watch_.lacks(growth);
  }

  // The most promising operation after the last one tried, by group and then by call.
  Choice next_choice(const Choice& tried) {
    const bool is_first = tried.operation == none;
    frontier_ = timeline_->returns()[rank_];
    frontier_fits_ = model_->apply(state_, transition_of(frontier_)) != impossible;
    Choice best;
    for (std::uint32_t event = next_[head]; !is_return(event); event = next_[event]) {
      ++steps_;
      if (watch_.is_reached()) {
        is_memory_exhausted_ = true;
        return {};
      }
      const std::uint32_t index = operation_at(event);
      const TimedOperation& operation = timeline_->operations()[index];
      if (model_->only_reads(operation.transition)) {
        if (!is_first) continue;  // it was already wrong before the first choice
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

  // Returns none if the answer would be wrong or the operation need not be tried.
  Choice choice_of(std::uint32_t index, const TimedOperation& operation) {
    if (operation.twin != none && !is_early(operation.twin)) return {};
    const State state = model_->apply(state_, operation.transition);
    if (state == impossible || (operation.is_indeterminate() && state == state_)) return {};
    const Prospect prospect = lookahead_.prospect(*model_, rank_, operation, state_, state);
    if (prospect == Prospect::excluded) return {};
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

  // Undoes the last order(); returns its argument, without the state.
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

  // Requires that the operation was called before the frontier returns, because operations share
  // slots.
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

  // The current configuration and the choices that led to it.
  std::vector<std::uint32_t> next_;
  std::vector<std::uint32_t> previous_;
  State state_ = 0;
  std::uint32_t rank_ = 0;
  std::vector<std::uint64_t> early_;  // by slot: ordered operations that return after the frontier
  std::vector<Frame> frames_;
  ConfigurationSet configurations_;

  // Values that all choices in one configuration share.
  std::uint32_t frontier_ = none;
  bool frontier_fits_ = false;  // its answer would be correct now

  MemoryWatch watch_;
  bool is_memory_exhausted_ = false;

  std::size_t horizon_ = 0;
  std::uint32_t furthest_rank_ = 0;
  std::uint64_t steps_ = 0;
};

}  // namespace falafel::checkers::linearization
