// Warnings of a store in which the table or the memory fills alone.
#include "tools/server/fill_warnings.h"

#include <gtest/gtest.h>

namespace falafel::server_program {
namespace {

const engine::Geometry some_geometry{.table_entries = 1'000};

TEST(FillWarnings, NameTheOptionForATableThatFillsAlone) {
  FillWarnings warnings;
  EXPECT_FALSE(warnings.examine(some_geometry, {.table_share = 0.8, .memory_share = 0.3}));
  // Small items in a table of the default size.
  const Fill full{.table_share = 0.95, .memory_share = 0.6};
  const auto warning = warnings.examine(some_geometry, full);
  ASSERT_TRUE(warning);
  EXPECT_NE(warning->find("95 % of the 1000 entries"), std::string::npos) << *warning;
  EXPECT_NE(warning->find("more --entries"), std::string::npos) << *warning;
  EXPECT_FALSE(warnings.examine(some_geometry, full)) << "it has been given";
}

TEST(FillWarnings, NameTheOptionsForMemoryThatFillsAlone) {
  FillWarnings warnings;
  EXPECT_FALSE(warnings.examine(some_geometry, {.table_share = 0.2, .memory_share = 0.95}));
  const Fill full{.table_share = 0.2, .memory_share = 0.95, .requests_denied = 1};
  const auto warning = warnings.examine(some_geometry, full);
  ASSERT_TRUE(warning);
  EXPECT_NE(warning->find("more --memory"), std::string::npos) << *warning;
  EXPECT_NE(warning->find("fewer --entries"), std::string::npos) << *warning;
  EXPECT_FALSE(warnings.examine(some_geometry, full)) << "it has been given";
}

TEST(FillWarnings, AreNotGivenWhereBothFillOrNeither) {
  FillWarnings warnings;
  const Fill full{.table_share = 0.95, .memory_share = 0.9, .requests_denied = 3};
  EXPECT_FALSE(warnings.examine(some_geometry, full));
  EXPECT_FALSE(warnings.examine(some_geometry, {.table_share = 0.2, .memory_share = 0.2}));
}

}  // namespace
}  // namespace falafel::server_program
