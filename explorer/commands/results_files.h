// The files of results that `merge` and `report` add up.
#pragma once

#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "explorer/campaign_result.h"

namespace falafel::command_line {

struct ResultsFiles {
  explorer::CampaignResult sum;
  // All findings: up to one of each property from each file. The sum has one of each property.
  std::vector<explorer::Finding> findings;
  std::size_t without_times = 0;  // files that do not say when things were first reached
};

// An error names the file.
tl::expected<ResultsFiles, std::string> add_up(const std::vector<std::string>& paths);

}  // namespace falafel::command_line
