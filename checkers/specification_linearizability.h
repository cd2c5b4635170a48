// Linearizability by any sequential specification: is there an order of all operations that
// respects real-time precedence and makes every answer correct? The method is that of
// linearizability.h (docs/checkers.md).
//
//   checkers::SpecificationHistory<Counter> history;
//   const std::size_t add = history.call(/*time=*/1, /*client=*/0, 5);
//   history.complete(/*time=*/2, add, 0);
//   const checkers::Judgement judgement = checkers::check_linearizability(history);
#pragma once

#include <cstddef>
#include <span>
#include <utility>

#include "checkers/judgement.h"
#include "checkers/linearizability_report.h"
#include "checkers/linearization/object_search.h"
#include "checkers/linearization/specification_model.h"
#include "checkers/specification.h"
#include "checkers/specification_history.h"

namespace falafel::checkers {

// Keeps its working memory between histories, so one checker judges many histories faster than many
// checkers do.
template <Specification S>
class SpecificationChecker {
 public:
  explicit SpecificationChecker(LinearizabilityLimits limits = {},
                                typename S::State initial = S::initial())
      : limits_(limits), model_(std::move(initial)) {}

  // Accepts calls in any order. Asserts that no operation returns before its call. The explanation
  // of a violation lists at most the last `most_listed` operations of the longest order.
  LinearizabilityReport report(std::span<const Call<S>> history,
                               std::size_t most_listed = default_most_listed) {
    model_.assign(history);
    return search_.report(model_, limits_, most_listed);
  }

  Judgement check(std::span<const Call<S>> history) { return report(history).judgement; }

 private:
  LinearizabilityLimits limits_;
  linearization::SpecificationModel<S> model_;
  linearization::ObjectSearch search_;
};

template <Specification S>
Judgement check_linearizability(std::span<const Call<S>> history,
                                LinearizabilityLimits limits = {}) {
  return SpecificationChecker<S>(limits).check(history);
}

template <Specification S>
Judgement check_linearizability(const SpecificationHistory<S>& history,
                                LinearizabilityLimits limits = {}) {
  return SpecificationChecker<S>(limits).check(history.calls());
}

}  // namespace falafel::checkers
