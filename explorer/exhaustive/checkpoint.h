// A file that names the finished parts of an exploration, so that it can be continued.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <tl/expected.hpp>

#include "explorer/exhaustive/exhaustive.h"
#include "explorer/exhaustive/parts.h"
#include "explorer/program.h"

namespace falafel::explorer {

struct Checkpoint {
  // All that determines the exploration: build, program, scenario, options.
  nlohmann::json exploration;
  std::map<PartName, PartCounts> parts;             // the finished ones
  std::map<std::string, std::uint64_t> conditions;  // how many runs reached each
};

nlohmann::json describe_exploration(const Program& program, const Scenario& scenario,
                                    const ExhaustiveOptions& options,
                                    std::uint64_t most_runs_of_part);

// Reads the file into `checkpoint`, if it exists. An error names the file, and what does not match
// `checkpoint.exploration`.
tl::expected<void, std::string> load_checkpoint(const std::string& path, Checkpoint& checkpoint);
// Replaces the file at once, so that an interruption leaves the old one or the new one.
tl::expected<void, std::string> save_checkpoint(const std::string& path,
                                                const Checkpoint& checkpoint);

}  // namespace falafel::explorer
