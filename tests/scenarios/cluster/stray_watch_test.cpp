// The judge of strays, with a list of one server, which has all keys by the list, and another
// server that has a copy of a key.
#include "tools/scenarios/cluster/stray_watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "fabric/text.h"

namespace falafel::cluster_scenario_test {
namespace {

using cluster_scenario::StrayWatch;
using engine::Answer;
using engine::PlacementList;
using fabric::bytes_of;
using fabric::copied_bytes_of;

const std::string owner = "server 0";
const std::string other = "server 1";

StrayWatch watch_of_stray(const PlacementList& list, bool may_delete_strays = false) {
  StrayWatch watch(may_delete_strays);
  watch.on_list_read(list);
  watch.on_listed(owner, {.keys = {{.key = copied_bytes_of("a")}}});
  watch.on_listed(other, {.keys = {{.key = copied_bytes_of("stray")}}});
  return watch;
}

TEST(StrayWatch, ObjectsToAStrayThatNobodyHasLookedFor) {
  StrayWatch watch = watch_of_stray({.servers = {owner}});
  watch.on_got(owner, bytes_of("a"), Answer::found);
  const auto objection = watch.objection_to_replacement();
  ASSERT_TRUE(objection.has_value());
  EXPECT_THAT(*objection, testing::HasSubstr("'stray' at server 1"));
}

TEST(StrayWatch, ObjectsToAStrayThatWasNotFound) {
  StrayWatch watch = watch_of_stray({.servers = {owner}});
  watch.on_got(owner, bytes_of("stray"), Answer::not_found);
  watch.on_got(other, bytes_of("stray"), Answer::found);
  EXPECT_TRUE(watch.objection_to_replacement().has_value());
}

TEST(StrayWatch, AcceptsAStrayThatItsServerHas) {
  StrayWatch watch = watch_of_stray({.servers = {owner}});
  watch.on_got(owner, bytes_of("stray"), Answer::found);
  EXPECT_EQ(watch.objection_to_replacement(), std::nullopt);
}

TEST(StrayWatch, AcceptsAChangeThatWasAnnouncedOrMayDeleteStrays) {
  StrayWatch announced = watch_of_stray({.servers = {owner}, .next = {owner, other}});
  EXPECT_EQ(announced.objection_to_replacement(), std::nullopt);
  StrayWatch allowed = watch_of_stray({.servers = {owner}}, true);
  EXPECT_EQ(allowed.objection_to_replacement(), std::nullopt);
}

// Copies are strays until the list is replaced by the next one.
TEST(StrayWatch, JudgesTheAnnouncementOnly) {
  StrayWatch watch(false);
  watch.on_list_read({.servers = {owner}});
  EXPECT_EQ(watch.objection_to_replacement(), std::nullopt);
  watch.on_list_read({.servers = {owner}, .next = {other}});
  watch.on_listed(other, {.keys = {{.key = copied_bytes_of("stray")}}});
  EXPECT_EQ(watch.objection_to_replacement(), std::nullopt);
}

}  // namespace
}  // namespace falafel::cluster_scenario_test
