// A history of calls on an object with a sequential specification, and the states of the object, as
// numbers. The search needs no types, so it is compiled once for all specifications.
// specification_model.h implements this interface for each of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "checkers/call_outline.h"
#include "checkers/linearization/model.h"

namespace falafel::checkers::linearization {

// A call that the lookahead considers.
struct PlannedCall {
  std::size_t call = 0;
  bool ignores_answer = false;
};

// Calls are numbered by their positions in the history.
class ObjectModel {
 public:
  ObjectModel() = default;
  ObjectModel(const ObjectModel&) = delete;
  ObjectModel& operator=(const ObjectModel&) = delete;
  virtual ~ObjectModel() = default;

  virtual std::size_t calls() const = 0;
  virtual CallOutline outline(std::size_t call) const = 0;
  // True only if the call never changes a state in which its answer is right.
  virtual bool only_reads(std::size_t call) const = 0;
  virtual std::string describe(std::size_t call) const = 0;

  // are_equal() is always false for a specification whose operations cannot be compared.
  virtual bool compares_operations() const = 0;
  virtual bool are_equal(std::size_t call, std::size_t other) const = 0;

  // The independent object that the call concerns; empty if there is only one.
  virtual bool has_parts() const = 0;
  virtual std::string part(std::size_t call) const = 0;

  // States are numbered in the order in which step() reaches them; the initial state is 0.
  virtual void forget_states() = 0;
  // Returns `impossible` if the call's answer would be wrong.
  virtual State step(State before, std::size_t call) = 0;
  // An estimate: what states allocate themselves is not included.
  virtual std::uint64_t states_bytes() const = 0;
  // Completes "Now ...": "the state is [1, 2]".
  virtual std::string describe_state_after(std::span<const std::size_t> calls) const = 0;

  // The members of SpecificationLookahead (specification_model.h). Call them only if looks_ahead().
  virtual bool looks_ahead() const = 0;
  virtual void plan(std::span<const PlannedCall> calls) = 0;
  virtual void order(std::size_t planned) = 0;
  virtual void undo(std::size_t planned) = 0;
  virtual bool may_follow(State before, std::size_t planned, State after) const = 0;
};

}  // namespace falafel::checkers::linearization
