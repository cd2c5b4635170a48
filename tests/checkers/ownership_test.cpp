// Tests of the checkers for write ownership and for reads of freed memory.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "checkers/reclaimed_memory.h"
#include "checkers/region_ownership.h"

namespace falafel::checkers {
namespace {

using engine::Geometry;
using engine::RegionInspection;
using engine::RegionState;

constexpr Geometry geometry{
    .table_entries = 4, .region_bytes = 64, .region_count = 2, .mature_bytes = 512};

void expect(const Judgement& judgement, const std::string& property) {
  EXPECT_EQ(judgement.verdict, Verdict::violated);
  EXPECT_EQ(judgement.property, property);
}

// Regions

class RegionOwnershipTest : public testing::Test {
 protected:
  std::vector<RegionInspection> regions_{
      {.state = RegionState::granted, .client = 1, .incarnation = 1}, {}};
  RegionOwnership ownership_{geometry};
};

TEST_F(RegionOwnershipTest, AcceptsWritesOfTheFirstWriter) {
  ownership_.on_written(5, geometry.region_offset(0), regions_, 1);
  ownership_.on_written(5, geometry.region_offset(0) + 32, regions_, 2);
  ownership_.on_published(5, geometry.region_offset(0), regions_, 3);
  regions_[0] = {.state = RegionState::granted, .client = 2, .incarnation = 2};
  ownership_.on_written(6, geometry.region_offset(0), regions_, 4);
  EXPECT_EQ(ownership_.judgement().verdict, Verdict::holds);
}

TEST_F(RegionOwnershipTest, SaysNothingOfOtherMemory) {
  ownership_.on_written(5, geometry.mature_offset(0), regions_, 1);
  ownership_.on_published(5, Geometry::table_offset(), regions_, 2);
  EXPECT_EQ(ownership_.judgement().verdict, Verdict::holds);
}

TEST_F(RegionOwnershipTest, FindsAWriteOfAnotherClient) {
  ownership_.on_written(5, geometry.region_offset(0), regions_, 1);
  ownership_.on_written(6, geometry.region_offset(0) + 32, regions_, 2);
  expect(ownership_.judgement(), "ownership.write");
  EXPECT_EQ(ownership_.judgement().step, 2U);
}

TEST_F(RegionOwnershipTest, FindsAWriteInARegionThatIsNotGranted) {
  for (const RegionState state :
       {RegionState::free, RegionState::released, RegionState::collecting, RegionState::waiting}) {
    RegionOwnership ownership(geometry);
    regions_[0].state = state;
    ownership.on_written(5, geometry.region_offset(0), regions_, 1);
    expect(ownership.judgement(), "ownership.write");
  }
}

TEST_F(RegionOwnershipTest, FindsAPublicationInARegionThatWasReleased) {
  ownership_.on_written(5, geometry.region_offset(0), regions_, 1);
  regions_[0].state = RegionState::released;
  ownership_.on_published(5, geometry.region_offset(0), regions_, 2);
  expect(ownership_.judgement(), "ownership.publication");
}

TEST_F(RegionOwnershipTest, ForgetsTheRegionsOfAServerThatDied) {
  ownership_.on_written(5, geometry.region_offset(0), regions_, 1);
  ownership_.clear();
  ownership_.on_written(6, geometry.region_offset(0), regions_, 2);
  EXPECT_EQ(ownership_.judgement().verdict, Verdict::holds);
}

// Reused memory

class ReclaimedMemoryTest : public testing::Test {
 protected:
  static constexpr ReclaimedMemory::Reader reader = 3;
  static constexpr ReclaimedMemory::Request table_read{1, 0};
  static constexpr ReclaimedMemory::Request container_read{1, 1};
  static constexpr ReclaimedMemory::Request further_read{1, 2};

  ReclaimedMemoryTest() {
    regions_[0] = {.state = RegionState::granted, .client = 1, .incarnation = 1};
    spaces_[0].active = true;
    look();
    memory_.on_operation_called(reader);
    memory_.on_read_posted(reader, table_read, Geometry::table_offset(), 8);
  }
  void look() { memory_.on_books(regions_, spaces_); }
  void read_container() {
    memory_.on_entry_read(table_read, container_);
    memory_.on_read_posted(reader, container_read, container_, 24);
  }
  void free_region() {
    regions_[0].state = RegionState::waiting;
    look();
    regions_[0].state = RegionState::free;
    look();
  }
  void expect_no_violation() const {
    EXPECT_EQ(memory_.judgement().verdict, Verdict::holds) << memory_.judgement().explanation;
  }
  void expect_read_of_freed_memory() const {
    expect(memory_.judgement(), "reclamation.read-of-freed-memory");
  }

  const std::uint64_t container_ = geometry.region_offset(0) + 16;
  std::vector<RegionInspection> regions_{2};
  std::vector<engine::MatureSpaceInspection> spaces_{2};
  ReclaimedMemory memory_{geometry};
};

TEST_F(ReclaimedMemoryTest, AcceptsMemoryThatWaitsForItsReaders) {
  read_container();
  regions_[0].state = RegionState::waiting;
  look();
  memory_.on_words_taken(container_read, container_, 5);
  expect_no_violation();
}

TEST_F(ReclaimedMemoryTest, FindsMemoryThatWasFreedAfterTheEntryWasRead) {
  read_container();
  memory_.on_words_taken(container_read, container_, 5);
  free_region();
  expect_no_violation();
  memory_.on_words_taken(container_read, container_ + 8, 6);
  expect_read_of_freed_memory();
  EXPECT_EQ(memory_.judgement().step, 6U);
}

TEST_F(ReclaimedMemoryTest, FindsARegionThatWasGrantedAgainBetweenTwoLooks) {
  read_container();
  regions_[0].incarnation = 2;
  look();
  memory_.on_words_taken(container_read, container_, 5);
  expect_read_of_freed_memory();
}

TEST_F(ReclaimedMemoryTest, FindsAMatureSpaceThatWasFreed) {
  const std::uint64_t container = geometry.mature_offset(0);
  memory_.on_entry_read(table_read, container);
  memory_.on_read_posted(reader, container_read, container, 24);
  spaces_[0] = {.active = false, .waiting = true, .used_bytes = 0};
  spaces_[1].active = true;
  look();
  memory_.on_words_taken(container_read, container, 5);
  expect_no_violation();
  spaces_[0].waiting = false;
  look();
  memory_.on_words_taken(container_read, container, 6);
  expect_read_of_freed_memory();
}

TEST_F(ReclaimedMemoryTest, FollowsAReadThatGoesOnWhereAnotherOneEnded) {
  read_container();
  free_region();
  memory_.on_read_posted(reader, further_read, container_ + 24, 8);
  memory_.on_words_taken(further_read, container_ + 24, 5);
  expect_read_of_freed_memory();
}

TEST_F(ReclaimedMemoryTest, KnowsAReadThatGoesOnFromOneOfAContainerThatWasThereBefore) {
  memory_.on_entry_read(table_read, container_ + 24);
  free_region();
  read_container();
  memory_.on_read_posted(reader, further_read, container_ + 24, 8);
  memory_.on_words_taken(further_read, container_ + 24, 5);
  expect_no_violation();
}

TEST_F(ReclaimedMemoryTest, AcceptsAnEntryThatWasReadAgain) {
  read_container();
  free_region();
  read_container();
  memory_.on_words_taken(container_read, container_, 5);
  expect_no_violation();
}

TEST_F(ReclaimedMemoryTest, SaysNothingOfOperationsThatAreOver) {
  read_container();
  free_region();
  memory_.on_operation_over(reader);
  memory_.on_words_taken(container_read, container_, 5);
  expect_no_violation();
}

TEST(BadChecksums, AreNeverMet) {
  EXPECT_EQ(check_bad_checksums(0).verdict, Verdict::holds);
  expect(check_bad_checksums(2), "reclamation.bad-checksum");
}

TEST_F(ReclaimedMemoryTest, SaysNothingOfMemoryThatNoEntryLedTo) {
  free_region();
  memory_.on_read_posted(reader, container_read, container_, 24);
  memory_.on_words_taken(container_read, container_, 5);
  expect_no_violation();
}

}  // namespace
}  // namespace falafel::checkers
