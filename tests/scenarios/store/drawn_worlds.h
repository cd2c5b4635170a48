// Properties of all shares of special scenarios (Share): how often they are drawn, and that the
// format of replay files describes what is special about them.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <fstream>
#include <iterator>
#include <string>

#include "tools/scenarios/store/scenario.h"

namespace falafel::store_scenario {

inline constexpr std::uint64_t drawn_seeds = 200;

// Scenarios without choices are not of the kind, and about half of those are that are drawn with
// `some`.
template <typename IsOfKind>
void expect_drawn_as_chosen(const ScenarioChoices& some, const IsOfKind& is_of_kind) {
  std::uint64_t count = 0;
  for (std::uint64_t seed = 1; seed <= drawn_seeds; ++seed) {
    EXPECT_FALSE(is_of_kind(draw_scenario({}, seed))) << seed;
    count += is_of_kind(draw_scenario(some, seed)) ? 1 : 0;
  }
  EXPECT_GT(count, drawn_seeds / 4);
  EXPECT_LT(count, 3 * drawn_seeds / 4);
}

// The document of the format of replay files.
inline std::string replay_file_document() {
  std::ifstream file(FALAFEL_SOURCE_FOLDER "/docs/replay-file.md");
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace falafel::store_scenario
