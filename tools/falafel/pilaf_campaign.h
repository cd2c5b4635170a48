// Campaigns of Pilaf and Pilaf-VO, from the command line's texts.
#pragma once

#include <memory>
#include <string>
#include <tl/expected.hpp>

#include "explorer/program.h"
#include "stores/pilaf/options.h"
#include "tools/falafel/campaign_options.h"

namespace falafel::command_line {

// The error names an option that does not apply, and the remedy.
tl::expected<std::unique_ptr<explorer::Program>, std::string> create_pilaf_campaign(
    pilaf::GetPath gets, const CampaignTexts& texts);

}  // namespace falafel::command_line
