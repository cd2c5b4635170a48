// The option --card, which selects a profile.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "fabric/sim/timing/profile.h"

namespace falafel::figures {

void add_card_option(CLI::App& command, std::string& card);
// A profile by its name, or from a file if the name has a slash or ends in .json. Throws a
// CLI::ValidationError if there is none.
sim::timing::Profile profile_of(const std::string& name);

}  // namespace falafel::figures
