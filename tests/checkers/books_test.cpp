// Tests of the checkers for the server's bookkeeping while clients are connected.
#include "checkers/books.h"

#include <gtest/gtest.h>

#include <array>

#include "tests/checkers/memory.h"

namespace falafel::checkers {
namespace {

using engine::RegionState;

// The mature space has room for its contents and for two regions.
Memory nearly_full_memory() {
  Memory memory;
  memory.mature_spaces_[0].used_bytes =
      memory.geometry_.mature_bytes - 2 * memory.geometry_.region_bytes;
  return memory;
}

TEST(BooksChecker, AcceptsAsManyRegionsAsThereIsRoomFor) {
  Memory memory = nearly_full_memory();
  memory.regions_[0].state = RegionState::granted;
  memory.regions_[1].state = RegionState::released;
  EXPECT_EQ(check_mature_spaces(memory.view()).verdict, Verdict::holds);
}

TEST(BooksChecker, FindsMoreRegionsOutThanThereIsRoomFor) {
  Memory memory = nearly_full_memory();
  memory.mature_spaces_[0].used_bytes += 8;
  memory.regions_[0].state = RegionState::granted;
  EXPECT_EQ(check_mature_spaces(memory.view()).verdict, Verdict::holds);
  memory.regions_[1].state = RegionState::released;
  expect_violation(check_mature_spaces(memory.view()), "books.overcommitted");
}

TEST(BooksChecker, WantsAFreeBlockForEachRegion) {
  Memory memory;
  memory.use_blocks(128, 5);
  memory.mature_spaces_[1].used_bytes = 128;
  memory.mature_spaces_[2].waiting = true;
  memory.regions_[0].state = RegionState::granted;
  memory.regions_[1].state = RegionState::released;
  EXPECT_EQ(check_mature_spaces(memory.view()).verdict, Verdict::holds);
  memory.mature_spaces_[3].used_bytes = 8;
  expect_violation(check_mature_spaces(memory.view()), "books.overcommitted");
  memory.regions_[1].state = RegionState::collecting;  // it may have opened that block
  EXPECT_EQ(check_mature_spaces(memory.view()).verdict, Verdict::holds);
}

TEST(BooksChecker, FindsAMatureSpaceThatIsFilledBeyondItsEnd) {
  Memory memory;
  memory.mature_spaces_[1].used_bytes = memory.geometry_.mature_bytes + 8;
  expect_violation(check_mature_spaces(memory.view()), "books.mature-spaces");
}

TEST(BooksChecker, FindsTwoActiveMatureSpaces) {
  Memory memory;
  memory.mature_spaces_[1].active = true;
  expect_violation(check_mature_spaces(memory.view()), "books.mature-spaces");
}

TEST(BooksChecker, FindsARegionOfAClientThatIsGone) {
  Memory memory;
  memory.regions_[1] = {.state = RegionState::granted, .client = 7, .incarnation = 3};
  const std::array<std::uint32_t, 2> clients{5, 7};
  EXPECT_EQ(check_owners(memory.regions_, clients).verdict, Verdict::holds);
  expect_violation(check_owners(memory.regions_, std::span(clients).first(1)), "books.no-owner");
  memory.regions_[1].state = RegionState::released;
  EXPECT_EQ(check_owners(memory.regions_, {}).verdict, Verdict::holds);
}

}  // namespace
}  // namespace falafel::checkers
