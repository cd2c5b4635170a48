// The findings of a campaign, as text for a failed expectation; empty if all properties held.
#pragma once

#include <string>

#include "explorer/campaign_result.h"

namespace falafel::explorer {

inline std::string describe_findings(const CampaignResult& result) {
  std::string text;
  for (const auto& [property, finding] : result.findings) {
    text +=
        property + " with seed " + std::to_string(finding.seed) + ": " + finding.explanation + "\n";
  }
  return text;
}

}  // namespace falafel::explorer
