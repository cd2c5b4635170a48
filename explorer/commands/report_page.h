// A campaign as one self-contained HTML page.
#pragma once

#include <string>
#include <vector>

#include "explorer/commands/reported_findings.h"

namespace falafel::command_line {

struct ReportPage {
  std::string title;
  const explorer::CampaignResult& results;
  std::size_t files = 0;
  std::size_t files_without_times = 0;
  std::string executable;
  std::vector<ReportedFinding> findings{};
  std::vector<std::string> missed_conditions{};
  std::string note{};    // why findings could not be recorded; empty: they could
  std::string folder{};  // where the page is; links are relative to it
};

// "all properties held", or "2 findings, 1 of them new; 1 condition not reached".
std::string verdict_of(const ReportPage& page);

std::string to_html(const ReportPage& page);

}  // namespace falafel::command_line
