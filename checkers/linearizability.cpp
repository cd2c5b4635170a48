#include "checkers/linearizability.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>

#include "checkers/linearization/append_log.h"
#include "checkers/linearization/counterexample.h"
#include "checkers/linearization/key_partition.h"
#include "checkers/linearization/key_value_register.h"
#include "checkers/linearization/partitioned_search.h"
#include "fabric/fabric.h"

namespace falafel::checkers {

namespace {

using namespace linearization;

bool has_kind(Model model, OperationKind kind) {
  switch (kind) {
    case OperationKind::get:
    case OperationKind::set: return true;
    case OperationKind::remove: return model != Model::append_log;
    case OperationKind::compare_and_swap: return model == Model::cas_register;
    case OperationKind::append: return model == Model::append_log;
  }
  return false;
}

void require_valid(const Operation& operation, Model model) {
  FALAFEL_ASSERT(has_kind(model, operation.kind), "the model does not support this operation: {}",
                 describe(operation));
  FALAFEL_ASSERT(can_answer(operation.kind, operation.answer),
                 "the operation cannot have this answer: {}", describe(operation));
  FALAFEL_ASSERT(model != Model::append_log || operation.answer != Answer::not_found,
                 "a log always exists, but a get did not find it: {}", describe(operation));
  const bool returns =
      operation.answer != Answer::indeterminate && operation.answer != Answer::refused;
  FALAFEL_ASSERT(!returns || operation.return_time >= operation.call_time,
                 "the operation returns before its call: {}", describe(operation));
}

// The operations on each key, as PartitionedSearch needs them.
class KeyParts {
 public:
  KeyParts(std::span<const Operation> history, const KeyPartition& partition)
      : history_(history), partition_(partition) {}

  std::size_t parts() const { return partition_.keys(); }

  class Part {
   public:
    Part(const KeyParts& parts, std::size_t key) : parts_(parts), key_(key) {}

    std::size_t history_size() const { return parts_.history_.size(); }
    std::span<const std::uint32_t> positions() const { return parts_.partition_.positions(key_); }
    std::uint64_t call_time(std::uint32_t position) const {
      return parts_.history_[position].call_time;
    }
    std::uint64_t return_time(std::uint32_t position) const {
      return parts_.history_[position].return_time;
    }
    bool is_indeterminate(std::uint32_t position) const {
      return parts_.history_[position].answer == Answer::indeterminate;
    }
    const Transition& transition(std::uint32_t position) const {
      return parts_.partition_.transition(position);
    }

   private:
    const KeyParts& parts_;
    std::size_t key_;
  };

  Part part(std::size_t key) const { return {*this, key}; }

 private:
  std::span<const Operation> history_;
  const KeyPartition& partition_;
};

// Describes the key's value after the operations, which are known to be correct.
std::string describe_key_after(std::span<const Operation> history,
                               std::span<const std::size_t> order, bool initially_empty) {
  std::optional<std::string> value;  // nullopt: the key is absent
  if (initially_empty) value.emplace();
  for (const std::size_t position : order) {
    const Operation& operation = history[position];
    switch (operation.kind) {
      case OperationKind::get: break;
      case OperationKind::set: value = operation.value; break;
      case OperationKind::remove: value.reset(); break;
      case OperationKind::compare_and_swap:
        if (value == operation.expected) value = operation.value;
        break;
      case OperationKind::append: *value += operation.value; break;
    }
  }
  return value ? fmt::format("the key is {}", quote(*value)) : "the key is absent";
}

}  // namespace

class LinearizabilityChecker::Implementation {
 public:
  Implementation(Model model, LinearizabilityLimits limits) : model_(model), limits_(limits) {
    if (model == Model::append_log) searcher_.emplace<Searcher<AppendLog>>();
  }

  LinearizabilityReport report(std::span<const Operation> history, std::size_t most_listed) {
    for (const Operation& operation : history) require_valid(operation, model_);
    return std::visit([&](auto& searcher) { return judge(searcher, history, most_listed); },
                      searcher_);
  }

 private:
  // One model with the memory that its search needs.
  template <typename SomeModel>
  struct Searcher {
    SomeModel model;
    PartitionedSearch<SomeModel> search;
  };

  template <typename SomeModel>
  LinearizabilityReport judge(Searcher<SomeModel>& searcher, std::span<const Operation> history,
                              std::size_t most_listed) {
    partition_.assign(history, SomeModel::merges_unobserved_values);
    if constexpr (std::is_same_v<SomeModel, AppendLog>) {
      searcher.model.use_values(partition_.values());
    }
    PartitionedResult result =
        searcher.search.run(KeyParts(history, partition_), searcher.model, limits_);
    LinearizabilityReport report;
    report.judgement.property = "linearizability";
    report.judgement.verdict = verdict_of(result.outcome);
    report.steps = result.steps;
    report.judged = answered(history);
    report.longest_prefix = std::move(result.longest_prefix);
    report.unfitting = std::move(result.unfitting);
    if (report.judgement.verdict != Verdict::holds) report.key = partition_.key(result.part);
    report.judgement.explanation = explain(history, result, report, most_listed);
    for (const std::size_t position : report.unfitting) {
      report.judgement.calls.push_back(history[position].call_time);
    }
    return report;
  }

  static std::size_t answered(std::span<const Operation> history) {
    return static_cast<std::size_t>(std::ranges::count_if(history, [](const Operation& operation) {
      return operation.answer != Answer::refused && operation.answer != Answer::indeterminate;
    }));
  }

  std::string explain(std::span<const Operation> history, const PartitionedResult& result,
                      const LinearizabilityReport& report, std::size_t most_listed) const {
    if (result.outcome == SearchOutcome::order_found) {
      return fmt::format("the operations on each of {} keys have a correct order",
                         partition_.keys());
    }
    const std::string key = fmt::format("key {}", quote(report.key));
    const std::size_t operations = partition_.positions(result.part).size();
    if (result.outcome != SearchOutcome::no_order) {
      return explain_undecided({.object = key,
                                .operations = operations,
                                .limit = describe_limit(result.outcome, limits_),
                                .passed = result.passed,
                                .returns = result.returns,
                                .undecided = result.undecided,
                                .objects = partition_.keys(),
                                .plural = "keys"});
    }
    return explain_violation(
        {.object = key,
         .operations = operations,
         .prefix = report.longest_prefix,
         .state = describe_key_after(history, report.longest_prefix, model_ == Model::append_log),
         .unfitting = report.unfitting,
         .first_return_time = history[report.unfitting.front()].return_time,
         .most_listed = most_listed,
         .describe = [&](std::size_t position) { return checkers::describe(history[position]); }});
  }

  Model model_;
  LinearizabilityLimits limits_;
  KeyPartition partition_;
  std::variant<Searcher<KeyValueRegister>, Searcher<AppendLog>> searcher_;
};

LinearizabilityChecker::LinearizabilityChecker(Model model, LinearizabilityLimits limits)
    : implementation_(std::make_unique<Implementation>(model, limits)) {}
LinearizabilityChecker::LinearizabilityChecker(LinearizabilityChecker&&) noexcept = default;
LinearizabilityChecker& LinearizabilityChecker::operator=(LinearizabilityChecker&&) noexcept =
    default;
LinearizabilityChecker::~LinearizabilityChecker() = default;

Judgement LinearizabilityChecker::check(std::span<const Operation> history) {
  return implementation_->report(history, default_most_listed).judgement;
}

LinearizabilityReport LinearizabilityChecker::report(std::span<const Operation> history,
                                                     std::size_t most_listed) {
  return implementation_->report(history, most_listed);
}

Judgement check_linearizability(std::span<const Operation> history, Model model,
                                LinearizabilityLimits limits) {
  return LinearizabilityChecker(model, limits).check(history);
}

}  // namespace falafel::checkers
