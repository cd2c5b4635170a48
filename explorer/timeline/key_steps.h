// Finds the steps that led to a violation: the operation that found a wrong value, the origin of
// that value, its other changes, and the step from which on the violation was inevitable.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "checkers/judgement.h"
#include "explorer/critical_step.h"
#include "explorer/timeline/timeline.h"

namespace falafel::timeline {

// A program may derive from it to add what it knows about its memory.
class KeyStepSearch {
 public:
  explicit KeyStepSearch(const Timeline& timeline) : timeline_(timeline) {}
  virtual ~KeyStepSearch() = default;
  KeyStepSearch(const KeyStepSearch&) = delete;
  KeyStepSearch& operator=(const KeyStepSearch&) = delete;

  // Sorted by step. Other properties that the run also violates follow from the same steps.
  std::vector<KeyStep> find(const std::vector<checkers::Judgement>& violations,
                            const std::optional<explorer::CriticalStep>& critical);

 protected:
  const Timeline& timeline() const { return timeline_; }
  void add(KeyStep key_step) { steps_.push_back(std::move(key_step)); }
  // These add an operation or an effect only once.
  void add_operation(std::uint32_t number, KeyStepRole role);
  void add_effect(std::uint32_t number, KeyStepRole role);
  // Tells if the effect shows words to its request: a READ, or an atomic.
  static bool is_reading(const Effect& effect);
  // The effects that belong to an operation and satisfy is_reading().
  std::vector<std::uint32_t> readings(std::uint32_t operation) const;

 private:
  // The readings that determined what an operation returned; by default, the last one of each of
  // the last two places.
  virtual std::vector<std::uint32_t> decisive_readings(std::uint32_t operation) const;
  // Adds what else led to a wrong answer of an operation.
  virtual void add_context_of(const OperationSpan& /*operation*/) {}
  // Adds what led to a violation at the places of memory that the judgement names.
  virtual void add_context_of(const checkers::Judgement& /*violation*/,
                              std::uint64_t /*last_step*/) {}

  void add_violation(const checkers::Judgement& violation);
  void add_return(std::uint32_t number);
  void add_origin(std::uint32_t effect);
  void add_operations_at(std::uint64_t step);
  std::vector<KeyStep> take();

  const Timeline& timeline_;
  std::vector<KeyStep> steps_;
  std::set<std::uint32_t> operations_;  // operations that were added
  std::set<std::uint32_t> effects_;
};

}  // namespace falafel::timeline
