#include "tools/benchmarks/figures/card_option.h"

#include <utility>

namespace falafel::figures {

using sim::timing::Profile;

Profile profile_of(const std::string& name) {
  auto profile = sim::timing::find_or_read_profile(name);
  if (!profile) throw CLI::ValidationError("--card", profile.error());
  return std::move(*profile);
}

void add_card_option(CLI::App& command, std::string& card) {
  command.add_option("--card", card, "name of a profile, or a file with one")
      ->capture_default_str();
}

}  // namespace falafel::figures
