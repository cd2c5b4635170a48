// Linearizability by any sequential specification: is there an order of all operations that
// respects real-time precedence and makes every answer correct? The method is that of
// linearizability.h (docs/checkers.md).
//
//   checkers::SpecificationHistory<Counter> history;
//   const std::size_t add = history.call(/*time=*/1, /*client=*/0, 5);
//   history.complete(/*time=*/2, add, 0);
//   const checkers::Judgement judgement = checkers::check_linearizability(history);
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <span>
#include <string>
#include <utility>

#include "checkers/history.h"
#include "checkers/judgement.h"
#include "checkers/linearizability_report.h"
#include "checkers/linearization/counterexample.h"
#include "checkers/linearization/partitioned_search.h"
#include "checkers/linearization/specification_model.h"
#include "checkers/linearization/specification_partition.h"
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
    partition_.assign(history);
    linearization::PartitionedResult result = search_.run(partition_, model_, limits_);
    LinearizabilityReport report;
    report.judgement.property = "linearizability";
    report.judgement.verdict = verdict_of(result.outcome);
    report.steps = result.steps;
    report.judged = partition_.answered();
    report.longest_prefix = std::move(result.longest_prefix);
    report.unfitting = std::move(result.unfitting);
    if (report.judgement.verdict != Verdict::holds) report.key = partition_.name(result.part);
    report.judgement.explanation = explain(history, result, report, most_listed);
    for (const std::size_t position : report.unfitting) {
      report.judgement.calls.push_back(history[position].call_time);
    }
    return report;
  }

  Judgement check(std::span<const Call<S>> history) { return report(history).judgement; }

 private:
  std::string explain(std::span<const Call<S>> history,
                      const linearization::PartitionedResult& result,
                      const LinearizabilityReport& report, std::size_t most_listed) const {
    using linearization::SearchOutcome;
    if (result.outcome == SearchOutcome::order_found) {
      return PartitionedSpecification<S>
                 ? fmt::format("the operations on each of {} objects have a correct order",
                               partition_.parts())
                 : std::string("the operations have a correct order");
    }
    const std::string object =
        PartitionedSpecification<S> ? fmt::format("object {}", quote(report.key)) : "the object";
    const std::size_t operations = partition_.positions(result.part).size();
    if (result.outcome != SearchOutcome::no_order) {
      return linearization::explain_undecided(
          {.object = object,
           .operations = operations,
           .limit = linearization::describe_limit(result.outcome, limits_),
           .passed = result.passed,
           .returns = result.returns,
           .undecided = result.undecided,
           .objects = partition_.parts(),
           .plural = "objects"});
    }
    linearization::KnownState<S> state(model_.initial_state());
    for (const std::size_t position : report.longest_prefix) state.apply(history[position]);
    return linearization::explain_violation(
        {.object = object,
         .operations = operations,
         .prefix = report.longest_prefix,
         .state = state.describe(),
         .unfitting = report.unfitting,
         .first_return_time = history[report.unfitting.front()].return_time,
         .most_listed = most_listed,
         .describe = [&](std::size_t position) { return describe(history[position]); }});
  }

  LinearizabilityLimits limits_;
  linearization::SpecificationPartition<S> partition_;
  linearization::SpecificationModel<S> model_;
  linearization::PartitionedSearch<linearization::SpecificationModel<S>> search_;
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
