// Searches the parts of a history one by one. A part has the operations on one object; objects are
// independent, so a history is linearizable if and only if each of its parts is.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "checkers/linearizability_report.h"
#include "checkers/linearization/search.h"
#include "checkers/linearization/timeline.h"

namespace falafel::checkers::linearization {

struct PartitionedResult {
  // order_found: every part has a correct order. no_order: `part` has none. Otherwise: no part is
  // known to have none, but `undecided` parts reached a limit, `part` first. The longest order of
  // its operations passes `passed` of `returns` returns.
  SearchOutcome outcome = SearchOutcome::order_found;
  std::size_t part = 0;
  std::size_t undecided = 0;
  std::size_t passed = 0;
  std::size_t returns = 0;
  // As in LinearizabilityReport.
  std::vector<std::size_t> longest_prefix{};
  std::vector<std::size_t> unfitting{};
  std::uint64_t steps = 0;
};

inline Verdict verdict_of(SearchOutcome outcome) {
  if (outcome == SearchOutcome::order_found) return Verdict::holds;
  return outcome == SearchOutcome::no_order ? Verdict::violated : Verdict::unknown;
}

// Names the limit that ended an undecided search.
inline std::string describe_limit(SearchOutcome outcome, const LinearizabilityLimits& limits) {
  return outcome == SearchOutcome::out_of_steps
             ? fmt::format("{} steps", limits.steps)
             : fmt::format("{} bytes of memory", limits.memory_bytes);
}

// Keeps its working memory between histories.
template <typename Model>
class PartitionedSearch {
 public:
  // `parts` has the members `std::size_t parts()` and `part(number)`; Timeline::assign() describes
  // a part.
  //
  // Gives each part an equal share of the steps, then spends the remainder on the parts that
  // exceeded their share. This way, a violation is found even if its part follows one that is too
  // hard.
  template <typename Parts>
  PartitionedResult run(const Parts& parts, Model& model, const LinearizabilityLimits& limits) {
    model_ = &model;
    limits_ = limits;
    PartitionedResult result;
    const std::size_t count = parts.parts();
    const std::uint64_t share = limits.steps / std::max<std::size_t>(count, 1);
    std::vector<Undecided> undecided;
    for (std::size_t part = 0; part < count; ++part) {
      const SearchOutcome outcome = search(parts.part(part), share, result);
      if (outcome == SearchOutcome::no_order) return violated(part, result);
      if (outcome == SearchOutcome::order_found) continue;
      undecided.push_back({part, outcome, search_.furthest_rank(), timeline_.returns().size()});
    }
    for (Undecided& again : undecided) {
      const std::uint64_t left = limits.steps - std::min(limits.steps, result.steps);
      if (again.outcome != SearchOutcome::out_of_steps || left <= share) continue;
      again.outcome = search(parts.part(again.part), left, result);
      again.passed = search_.furthest_rank();
      if (again.outcome == SearchOutcome::no_order) return violated(again.part, result);
    }
    std::erase_if(undecided, [](const Undecided& searched) {
      return searched.outcome == SearchOutcome::order_found;
    });
    result.undecided = undecided.size();
    if (!undecided.empty()) {
      result.outcome = undecided.front().outcome;
      result.part = undecided.front().part;
      result.passed = undecided.front().passed;
      result.returns = undecided.front().returns;
    }
    return result;
  }

 private:
  // A part that was not decided, with the reason.
  struct Undecided {
    std::size_t part;
    SearchOutcome outcome;
    std::size_t passed;  // as in PartitionedResult
    std::size_t returns;
  };

  template <typename Part>
  SearchOutcome search(const Part& part, std::uint64_t steps, PartitionedResult& result) {
    timeline_.assign(part);
    LinearizabilityLimits limits = limits_;
    limits.steps = steps;
    const SearchOutcome outcome =
        search_.run(timeline_, *model_, limits, timeline_.returns().size());
    result.steps += search_.steps();
    return outcome;
  }

  // Builds a longest order after a search failed. Lookahead stops the search before it reaches the
  // operation that does not fit, so the position has to be searched for. Bisection works because an
  // order up to a horizon implies an order up to every earlier horizon.
  void run_to_furthest() {
    std::size_t reachable = search_.furthest_rank();
    std::size_t unreachable = timeline_.returns().size();
    while (reachable + 1 < unreachable) {
      const std::size_t middle = std::midpoint(reachable, unreachable);
      const bool found =
          search_.run(timeline_, *model_, limits_, middle) == SearchOutcome::order_found;
      (found ? reachable : unreachable) = middle;
    }
    search_.run(timeline_, *model_, limits_, reachable);
  }

  PartitionedResult violated(std::size_t part, PartitionedResult& result) {
    run_to_furthest();
    result.outcome = SearchOutcome::no_order;
    result.part = part;
    result.longest_prefix = positions_of(search_.prefix());
    result.unfitting = positions_of(search_.under_way());
    return std::move(result);
  }

  std::vector<std::size_t> positions_of(std::span<const std::uint32_t> operations) const {
    std::vector<std::size_t> positions;
    for (const std::uint32_t operation : operations) {
      positions.push_back(timeline_.operations()[operation].position);
    }
    return positions;
  }

  Model* model_ = nullptr;
  LinearizabilityLimits limits_;
  Timeline<typename Model::Transition> timeline_;
  Search<Model> search_;
};

}  // namespace falafel::checkers::linearization
