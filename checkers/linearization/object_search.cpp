#include "checkers/linearization/object_search.h"

#include <fmt/format.h>

#include <string>
#include <utility>

#include "checkers/history.h"
#include "checkers/judgement.h"
#include "checkers/linearization/counterexample.h"
#include "checkers/linearization/object_partition.h"
#include "checkers/linearization/partitioned_search.h"
#include "checkers/linearization/remembered_model.h"

namespace falafel::checkers::linearization {

class ObjectSearch::Implementation {
 public:
  LinearizabilityReport report(ObjectModel& model, const LinearizabilityLimits& limits,
                               std::size_t most_listed) {
    partition_.assign(model);
    RememberedModel remembered(model);
    PartitionedResult result = search_.run(partition_, remembered, limits);
    LinearizabilityReport report;
    report.judgement.property = "linearizability";
    report.judgement.verdict = verdict_of(result.outcome);
    report.steps = result.steps;
    report.judged = partition_.answered();
    report.longest_prefix = std::move(result.longest_prefix);
    report.unfitting = std::move(result.unfitting);
    if (report.judgement.verdict != Verdict::holds) report.key = partition_.name(result.part);
    report.judgement.explanation = explain(model, limits, result, report, most_listed);
    for (const std::size_t position : report.unfitting) {
      report.judgement.calls.push_back(model.outline(position).call_time);
    }
    return report;
  }

 private:
  std::string explain(const ObjectModel& model, const LinearizabilityLimits& limits,
                      const PartitionedResult& result, const LinearizabilityReport& report,
                      std::size_t most_listed) const {
    if (result.outcome == SearchOutcome::order_found) {
      return model.has_parts()
                 ? fmt::format("the operations on each of {} objects have a correct order",
                               partition_.parts())
                 : std::string("the operations have a correct order");
    }
    const std::string object =
        model.has_parts() ? fmt::format("object {}", quote(report.key)) : "the object";
    const std::size_t operations = partition_.positions(result.part).size();
    if (result.outcome != SearchOutcome::no_order) {
      return explain_undecided({.object = object,
                                .operations = operations,
                                .limit = describe_limit(result.outcome, limits),
                                .passed = result.passed,
                                .returns = result.returns,
                                .undecided = result.undecided,
                                .objects = partition_.parts(),
                                .plural = "objects"});
    }
    return explain_violation(
        {.object = object,
         .operations = operations,
         .prefix = report.longest_prefix,
         .state = model.describe_state_after(report.longest_prefix),
         .unfitting = report.unfitting,
         .first_return_time = model.outline(report.unfitting.front()).return_time,
         .most_listed = most_listed,
         .describe = [&](std::size_t position) { return model.describe(position); }});
  }

  ObjectPartition partition_;
  PartitionedSearch<RememberedModel> search_;
};

ObjectSearch::ObjectSearch() : implementation_(std::make_unique<Implementation>()) {}
ObjectSearch::ObjectSearch(ObjectSearch&&) noexcept = default;
ObjectSearch& ObjectSearch::operator=(ObjectSearch&&) noexcept = default;
ObjectSearch::~ObjectSearch() = default;

LinearizabilityReport ObjectSearch::report(ObjectModel& model, const LinearizabilityLimits& limits,
                                           std::size_t most_listed) {
  return implementation_->report(model, limits, most_listed);
}

}  // namespace falafel::checkers::linearization
