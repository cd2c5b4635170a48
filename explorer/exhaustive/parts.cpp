#include "explorer/exhaustive/parts.h"

#include <cstddef>
#include <limits>
#include <nlohmann/json.hpp>

#include "explorer/exhaustive/search_strategy.h"

namespace falafel::explorer {
namespace {

// A tree is split where it has enough parts, or at the deepest split.
constexpr std::size_t enough_parts = 64;
constexpr std::size_t deepest_split = 256;

void add(PartCounts& counts, const Execution& execution, bool is_redundant) {
  counts.steps += execution.steps;
  if (is_redundant) {
    ++counts.redundant;
    return;
  }
  ++counts.executions;
  if (execution.outcome == sim::Outcome::step_limit) ++counts.cut_off;
  if (execution.is_unknown) ++counts.unknown;
  counts.is_violated |= execution.is_violation;
}

Split split_at(std::size_t depth, const Subtree& tree, const ExhaustiveOptions& options,
               const Execute& execute) {
  Split split;
  split.above.is_split = true;
  SourceDpor search;
  search.explore_only(tree);
  search.split_at(tree.prefix.size() + depth);
  SearchStrategy strategy(search, {.explored_from_ns = options.explored_from_ns,
                                   .explored_until_ns = options.explored_until_ns,
                                   .has_preparations = options.has_preparations,
                                   .draws_numbers = options.draws_numbers,
                                   .tells_lanes = true});
  do {
    strategy.begin_run();
    const Execution execution = execute(strategy);
    search.end_execution(execution.outcome == sim::Outcome::step_limit);
    if (search.cut()) {
      split.parts.push_back(*search.cut());
    } else {
      add(split.above, execution, search.is_redundant());
    }
  } while (search.find_next_execution());
  split.above.has_explored = strategy.has_explored();
  split.above.fixed_choices = strategy.fixed_choices();
  split.above.deadlines = strategy.deadlines();
  return split;
}

// The options for one part: the other limits are those of the whole exploration.
ExhaustiveOptions options_of_part(const ExhaustiveOptions& options, std::uint64_t most_runs) {
  ExhaustiveOptions of_part = options;
  of_part.max_executions = most_runs;
  of_part.max_seconds = std::numeric_limits<double>::infinity();
  of_part.progress = nullptr;
  return of_part;
}

}  // namespace

void to_json(nlohmann::json& json, const PartCounts& counts) {
  json = {{"executions", counts.executions},
          {"cut_off", counts.cut_off},
          {"redundant", counts.redundant},
          {"unknown", counts.unknown},
          {"steps", counts.steps},
          {"is_violated", counts.is_violated},
          {"is_split", counts.is_split},
          {"has_explored", counts.has_explored},
          {"fixed_choices", counts.fixed_choices},
          {"deadlines", counts.deadlines}};
}

void from_json(const nlohmann::json& json, PartCounts& counts) {
  json.at("executions").get_to(counts.executions);
  json.at("cut_off").get_to(counts.cut_off);
  json.at("redundant").get_to(counts.redundant);
  json.at("unknown").get_to(counts.unknown);
  json.at("steps").get_to(counts.steps);
  json.at("is_violated").get_to(counts.is_violated);
  json.at("is_split").get_to(counts.is_split);
  json.at("has_explored").get_to(counts.has_explored);
  json.at("fixed_choices").get_to(counts.fixed_choices);
  json.at("deadlines").get_to(counts.deadlines);
}

PartCounts explore_part(const Subtree& part, const ExhaustiveOptions& options,
                        std::uint64_t most_runs, const Execute& execute) {
  SourceDpor search;
  search.explore_only(part);
  const ExhaustiveResult result =
      explore_executions(search, options_of_part(options, most_runs), execute);
  return {.executions = result.executions,
          .cut_off = result.cut_off,
          .redundant = result.redundant,
          .unknown = result.unknown,
          .steps = result.steps,
          .is_violated = result.violations > 0,
          .is_split = result.coverage == Coverage::stopped && result.violations == 0,
          .has_explored = result.has_explored,
          .fixed_choices = result.fixed_choices,
          .deadlines = result.deadlines};
}

std::optional<FailingRun> find_violation(const Subtree& part, const ExhaustiveOptions& options,
                                         const Execute& execute, const Repeat& repeat) {
  SourceDpor search;
  search.explore_only(part);
  const auto no_limit = std::numeric_limits<std::uint64_t>::max();
  return explore_executions(search, options_of_part(options, no_limit), execute, repeat).violation;
}

Split split(const Subtree& tree, const ExhaustiveOptions& options, const Execute& execute) {
  for (std::size_t depth = 1;; ++depth) {
    Split split = split_at(depth, tree, options, execute);
    const bool is_enough = split.parts.size() >= enough_parts || split.parts.empty();
    if (is_enough || depth == deepest_split) return split;
  }
}

}  // namespace falafel::explorer
