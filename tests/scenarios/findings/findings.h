// Expectations of the recorded schedules of a scenario: the replay files of a folder below
// tests/replays, each with a safeguard switched off.
#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <string_view>

#include "explorer/check/program.h"

namespace falafel::findings {

std::set<std::filesystem::path> replays_in(const std::string& folder);

// Each violates its property, with the trace hash of its file. If one does not, `document` has the
// command that records it again.
void expect_violations(const check::WorldProgram& program, const std::string& folder,
                       std::string_view document);

// The same choices violate nothing with all safeguards on.
void expect_none_with_all_safeguards(const check::WorldProgram& program, const std::string& folder);

}  // namespace falafel::findings
