#include "checkers/linearizability.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <type_traits>
#include <utility>
#include <variant>

#include "checkers/linearization/append_log.h"
#include "checkers/linearization/cas_register.h"
#include "checkers/linearization/counterexample.h"
#include "checkers/linearization/key_partition.h"
#include "checkers/linearization/key_value_register.h"
#include "checkers/linearization/search.h"
#include "checkers/linearization/timeline.h"
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
}

Judgement judgement(Verdict verdict, std::string explanation) {
  return {verdict, "linearizability", std::move(explanation)};
}

}  // namespace

class LinearizabilityChecker::Implementation {
 public:
  Implementation(Model model, LinearizabilityLimits limits) : model_(model), limits_(limits) {
    switch (model) {
      case Model::key_value_register: break;  // the variant's first alternative
      case Model::cas_register: searcher_.emplace<Searcher<CasRegister>>(); break;
      case Model::append_log: searcher_.emplace<Searcher<AppendLog>>(); break;
    }
  }

  LinearizabilityReport report(std::span<const Operation> history, std::size_t most_listed) {
    most_listed_ = most_listed;
    for (const Operation& operation : history) require_valid(operation, model_);
    return std::visit([&](auto& searcher) { return judge(searcher, history); }, searcher_);
  }

 private:
  // One model with the memory that its search needs.
  template <typename SomeModel>
  struct Searcher {
    SomeModel model;
    Search<SomeModel> search;
  };

  // A key that was not decided, with the reason.
  struct Undecided {
    std::size_t key;
    SearchOutcome outcome;
  };

  // Gives each key an equal share of the steps, then spends the remainder on the keys that exceeded
  // their share. This way, a violation is found even if its key follows one that is too hard.
  template <typename SomeModel>
  LinearizabilityReport judge(Searcher<SomeModel>& searcher, std::span<const Operation> history) {
    partition_.assign(history, SomeModel::merges_unobserved_values);
    LinearizabilityReport report;
    const std::size_t keys = partition_.keys();
    const std::uint64_t share = limits_.steps / std::max<std::size_t>(keys, 1);
    std::vector<Undecided> undecided;
    for (std::size_t key = 0; key < keys; ++key) {
      const SearchOutcome outcome = search(searcher, history, key, share, report);
      if (outcome == SearchOutcome::no_order) return violated(searcher, history, key, report);
      if (outcome != SearchOutcome::order_found) undecided.push_back({key, outcome});
    }
    for (Undecided& again : undecided) {
      const std::uint64_t left = limits_.steps - std::min(limits_.steps, report.steps);
      if (again.outcome != SearchOutcome::out_of_steps || left <= share) continue;
      again.outcome = search(searcher, history, again.key, left, report);
      if (again.outcome == SearchOutcome::no_order) {
        return violated(searcher, history, again.key, report);
      }
    }
    std::erase_if(undecided, [](const Undecided& searched) {
      return searched.outcome == SearchOutcome::order_found;
    });
    return undecided.empty() ? holds(report) : unknown(undecided, report);
  }

  template <typename SomeModel>
  SearchOutcome search(Searcher<SomeModel>& searcher, std::span<const Operation> history,
                       std::size_t key, std::uint64_t steps, LinearizabilityReport& report) {
    timeline_.assign(history, partition_, key);
    const LinearizabilityLimits limits{.steps = steps, .memory_bytes = limits_.memory_bytes};
    const SearchOutcome outcome = run_to(searcher, limits, timeline_.returns().size());
    report.steps += searcher.search.steps();
    return outcome;
  }

  template <typename SomeModel>
  SearchOutcome run_to(Searcher<SomeModel>& searcher, const LinearizabilityLimits& limits,
                       std::size_t horizon) {
    if constexpr (std::is_same_v<SomeModel, AppendLog>) searcher.model.clear(partition_.values());
    return searcher.search.run(timeline_, searcher.model, limits, horizon);
  }

  // Builds a longest order after a search failed. Lookahead stops the search before it reaches the
  // operation that does not fit, so the position has to be searched for. Bisection works because an
  // order up to a horizon implies an order up to every earlier horizon.
  template <typename SomeModel>
  void run_to_furthest(Searcher<SomeModel>& searcher) {
    std::size_t reachable = searcher.search.furthest_rank();
    std::size_t unreachable = timeline_.returns().size();
    while (reachable + 1 < unreachable) {
      const std::size_t middle = std::midpoint(reachable, unreachable);
      const bool found = run_to(searcher, limits_, middle) == SearchOutcome::order_found;
      (found ? reachable : unreachable) = middle;
    }
    run_to(searcher, limits_, reachable);
  }

  template <typename SomeModel>
  LinearizabilityReport violated(Searcher<SomeModel>& searcher, std::span<const Operation> history,
                                 std::size_t key, LinearizabilityReport& report) {
    run_to_furthest(searcher);
    report.key = partition_.key(key);
    report.longest_prefix = positions_of(searcher.search.prefix());
    report.unfitting = positions_of(searcher.search.under_way());
    report.judgement = judgement(Verdict::violated,
                                 explain_violation(history, report.longest_prefix, report.unfitting,
                                                   partition_.positions(key).size(), most_listed_,
                                                   model_ == Model::append_log));
    for (const std::size_t position : report.unfitting) {
      report.judgement.calls.push_back(history[position].call_time);
    }
    return std::move(report);
  }

  LinearizabilityReport holds(LinearizabilityReport& report) const {
    report.judgement = judgement(
        Verdict::holds,
        fmt::format("the operations on each of {} keys have a correct order", partition_.keys()));
    return std::move(report);
  }

  LinearizabilityReport unknown(std::span<const Undecided> undecided,
                                LinearizabilityReport& report) const {
    const Undecided& first = undecided.front();
    const std::string limit = first.outcome == SearchOutcome::out_of_steps
                                  ? fmt::format("{} steps", limits_.steps)
                                  : fmt::format("{} bytes of memory", limits_.memory_bytes);
    report.key = partition_.key(first.key);
    report.judgement =
        judgement(Verdict::unknown,
                  fmt::format("key {}: the search for a correct order of its {} operations ended "
                              "without a result at the limit of {} ({} of {} keys are undecided)",
                              quote(report.key), partition_.positions(first.key).size(), limit,
                              undecided.size(), partition_.keys()));
    return std::move(report);
  }

  std::vector<std::size_t> positions_of(std::span<const std::uint32_t> operations) const {
    std::vector<std::size_t> positions;
    for (const std::uint32_t operation : operations) {
      positions.push_back(timeline_.operations()[operation].position);
    }
    return positions;
  }

  Model model_;
  LinearizabilityLimits limits_;
  std::size_t most_listed_ = 0;
  KeyPartition partition_;
  Timeline timeline_;
  std::variant<Searcher<KeyValueRegister>, Searcher<CasRegister>, Searcher<AppendLog>> searcher_;
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
