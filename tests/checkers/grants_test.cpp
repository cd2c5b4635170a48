// Tests of the checker of grants: servers that grant, deny and ask as they should, and as they must
// not, and clients that keep their regions.
#include "checkers/grants.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "tests/checkers/memory.h"

namespace falafel::checkers {
namespace {

using engine::RegionState;

constexpr std::uint32_t asking_client = 5;
constexpr std::uint64_t region_bytes = 256;
constexpr std::uint64_t mature_regions = 4;

class GrantsTest : public testing::Test {
 protected:
  GrantsTest() {
    geometry_.region_bytes = region_bytes;
    geometry_.mature_bytes = mature_regions * region_bytes;
    geometry_.region_count = 4;
    spaces_[1].active = true;
  }

  MemoryView view() const {
    return {.geometry = geometry_,
            .hash_key = hash_key_,
            .chunk = {},
            .regions = regions_,
            .mature_spaces = spaces_};
  }
  void request(const Grants::Request& request) { grants_.on_requested(asking_client, request); }
  void hold(const std::vector<RegionState>& states) {
    regions_.clear();
    for (const RegionState state : states) {
      regions_.push_back({.state = state, .incarnation = regions_.size() + 1});
    }
  }
  void grant(std::uint64_t incarnation) {
    grants_.on_granted(view(), 7);
    grants_.on_region(asking_client, incarnation);
  }
  // Grants a region to any key while the memory has room for this number of regions, with that one.
  void grant_with_room_for(std::uint64_t regions, bool for_overwrite = false) {
    spaces_[1].used_bytes = (mature_regions - regions) * region_bytes;
    hold({RegionState::granted});
    request({.is_for_overwrite = for_overwrite});
    grant(1);
  }
  void expect_holds() const {
    EXPECT_EQ(grants_.judgement().verdict, Verdict::holds) << grants_.judgement().explanation;
  }
  void expect_violated(const std::string& property) const {
    expect_violation(grants_.judgement(), property);
    EXPECT_EQ(grants_.judgement().step, 7U);
  }

  engine::Geometry geometry_{};
  engine::HashKey hash_key_{};
  std::vector<engine::RegionInspection> regions_;
  std::vector<engine::MatureSpaceInspection> spaces_{2};
  Grants grants_{true};
};

TEST_F(GrantsTest, LeaveTheReserve) {
  grant_with_room_for(2);
  expect_holds();
}

TEST_F(GrantsTest, MustNotTakeTheReserve) {
  grant_with_room_for(1);
  expect_violated("grant.of-reserve");
}

TEST_F(GrantsTest, CountRegionsThatAreCollectedAsOutstanding) {
  spaces_[1].used_bytes = region_bytes;
  hold({RegionState::collecting, RegionState::released, RegionState::granted});
  request({});
  grant(3);
  expect_violated("grant.of-reserve");
}

TEST_F(GrantsTest, TakeTheReserveToOverwrite) {
  grant_with_room_for(1, true);
  expect_holds();
}

TEST_F(GrantsTest, TakeTheReserveOfAServerThatKeepsNone) {
  grants_ = Grants(false);
  grant_with_room_for(1);
  expect_holds();
}

TEST_F(GrantsTest, ASmallMemoryHasNoReserve) {
  geometry_.mature_bytes -= region_bytes;
  hold({RegionState::granted});
  spaces_[1].used_bytes = geometry_.mature_bytes - region_bytes;
  request({});
  grant(1);
  expect_holds();
}

// The server counts a grant whose message it cannot send, because the connection is broken.
TEST_F(GrantsTest, AreJudgedByTheClientThatHasTheRegion) {
  spaces_[1].used_bytes = (mature_regions - 1) * region_bytes;
  hold({RegionState::granted});
  request({.is_for_overwrite = true});
  grants_.on_requested(asking_client + 1, {});
  grant(1);
  expect_holds();
  grants_.on_region(asking_client + 1, 2);
  expect_holds();
  grants_.on_region(asking_client + 1, 1);
  expect_violated("grant.of-reserve");
}

TEST_F(GrantsTest, AreDeniedAfterAMeasurementSinceTheDelete) {
  request({.freed_ns = 100});
  grants_.on_denied(asking_client, 100, 7);
  grants_.on_denied(asking_client + 1, 1, 7);  // it has deleted nothing
  expect_holds();
}

TEST_F(GrantsTest, MustNotBeDeniedAfterAMeasurementFromBeforeTheDelete) {
  request({.freed_ns = 100});
  grants_.on_denied(asking_client, 99, 7);
  expect_violated("grant.stale-denial");
}

TEST_F(GrantsTest, LetTheServerAskWhenAllRegionsAreHeld) {
  hold({RegionState::granted, RegionState::granted});
  grants_.on_decided_to_ask(view(), false, 7);
  expect_holds();
}

TEST_F(GrantsTest, LetTheServerAskForRoom) {
  hold({RegionState::collecting, RegionState::free});
  grants_.on_decided_to_ask(view(), true, 7);
  expect_holds();
}

TEST_F(GrantsTest, MustNotAskWhileARegionIsComing) {
  for (const RegionState state :
       {RegionState::released, RegionState::collecting, RegionState::waiting}) {
    grants_ = Grants(true);
    hold({RegionState::granted, state});
    grants_.on_decided_to_ask(view(), false, 7);
    expect_violated("grant.asked-early");
  }
}

TEST_F(GrantsTest, MustNotAskWhileAClientIsLeaving) {
  hold({RegionState::granted});
  grants_.on_decided_to_ask(view(), true, 7);
  expect_violated("grant.asked-early");
}

class ReturnedRegions : public GrantsTest {
 protected:
  ReturnedRegions() {
    grants_.on_region(asking_client, 1);
    grants_.on_region(asking_client, 2);
  }
  void send(std::uint64_t messages) { grants_.on_message(asking_client, messages, 7); }
};

TEST_F(ReturnedRegions, AreAllThatTheServerAskedFor) {
  send(9);
  grants_.on_question(asking_client, 1);
  grants_.on_released(asking_client, 1);
  send(9);
  expect_holds();
}

TEST_F(ReturnedRegions, ComeInTime) {
  grants_.on_question(asking_client, 2);
  send(Grants::messages_until_return - 1);
  expect_holds();
}

TEST_F(ReturnedRegions, MustNotBeKept) {
  grants_.on_question(asking_client, 2);
  grants_.on_released(asking_client, 1);
  send(Grants::messages_until_return);
  expect_violated("grant.region-kept");
}

TEST_F(ReturnedRegions, BelongToOneConnection) {
  grants_.on_question(asking_client, 2);
  grants_.on_left(asking_client);
  send(9);
  grants_.on_region(asking_client, 3);
  grants_.on_question(asking_client, 3);
  grants_.on_server_died();
  send(9);
  expect_holds();
}

}  // namespace
}  // namespace falafel::checkers
