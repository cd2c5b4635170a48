// Parts of the tree of executions that can be explored by themselves, each in a process of its own.
//
// A tree is split below its first steps. Above the split, every process that can move is tried,
// except for those that sleep, so no race that a part finds has to be reversed above the split. A
// part begins with the sleep set of its first step. How a tree is split depends on the program
// alone.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <set>
#include <string>
#include <vector>

#include "explorer/exhaustive/exhaustive.h"
#include "explorer/exhaustive/source_dpor.h"

namespace falafel::explorer {

// The part with number 2 of the part with number 7 of the whole tree is {7, 2}; the tree is {}.
using PartName = std::vector<std::uint64_t>;

// The counts of the exploration of a part.
struct PartCounts {
  std::uint64_t executions = 0;
  std::uint64_t cut_off = 0;
  std::uint64_t redundant = 0;
  std::uint64_t unknown = 0;
  std::uint64_t steps = 0;
  bool is_violated = false;   // the exploration ended at the first violation
  bool is_split = false;      // these are the executions that end above the split
  bool has_explored = false;  // the search could choose something
  std::uint64_t fixed_choices = 0;
  std::set<std::string> deadlines{};
};
void to_json(nlohmann::json& json, const PartCounts& counts);
void from_json(const nlohmann::json& json, PartCounts& counts);

// Explores the part. Gives up after `most_runs` executions, redundant ones included: the part
// must be split, and only `is_split` counts.
PartCounts explore_part(const Subtree& part, const ExhaustiveOptions& options,
                        std::uint64_t most_runs, const Execute& execute);

// The first violation of the part.
std::optional<FailingRun> find_violation(const Subtree& part, const ExhaustiveOptions& options,
                                         const Execute& execute, const Repeat& repeat);

struct Split {
  std::vector<Subtree> parts;
  PartCounts above;
};
Split split(const Subtree& tree, const ExhaustiveOptions& options, const Execute& execute);

}  // namespace falafel::explorer
