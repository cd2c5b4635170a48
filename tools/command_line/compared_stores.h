// The stores that Falafel is compared with, as programs of the explorer.
#pragma once

#include <memory>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "explorer/program.h"
#include "tools/command_line/campaign_options.h"

namespace falafel::command_line {

// The values of --store, without falafel.
std::vector<std::string> compared_stores();

// The store with all safeguards, which draws its network itself.
std::unique_ptr<explorer::Program> create_compared_store(const std::string& store);

// Their programs of other names, whose replay files the commands accept.
std::vector<std::unique_ptr<explorer::Program>> variants_of_compared_stores();

// The name of the program of a changing cluster with these values of --warm-restarts and --caches.
std::string changing_cluster_program(const CampaignTexts& texts);

// The store with the command line's options. The error names an option that does not apply, and
// the remedy.
tl::expected<std::unique_ptr<explorer::Program>, std::string> create_compared_campaign(
    const std::string& store, const CampaignTexts& texts);

}  // namespace falafel::command_line
