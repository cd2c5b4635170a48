// The server's messages about regions are input: inconsistent ones are rejected and change nothing.
#include <gtest/gtest.h>

#include "engine/client/region_allocator.h"
#include "tests/engine/store.h"

namespace falafel::engine_test {
namespace {

using engine::ControlMessage;
using engine::MessageKind;

ControlMessage grant_of(std::uint32_t region, std::uint64_t incarnation) {
  return {.kind = MessageKind::grant_region, .region = region, .incarnation = incarnation};
}

TEST(RegionAllocator, RefusesGrantsThatMakeNoSense) {
  fabric::FiberStackPool stacks;
  TestStore store({}, stacks);
  store.add_host("client", [](fabric::Host& host) {
    const engine::Geometry defaults;
    engine::RegionAllocator regions(host, defaults, {.renewal_percent = 1}, [] {});
    EXPECT_FALSE(regions.on_granted(grant_of(0, 1))) << "nobody asked";
    host.spawn({.name = "messages"}, [&] {
      EXPECT_FALSE(regions.on_granted(grant_of(16, 1))) << "there is no such region";
      EXPECT_TRUE(regions.on_granted(grant_of(0, 1)));
    });
    const auto first = regions.allocate(1'024);
    ASSERT_TRUE(first);
    EXPECT_FALSE(regions.on_granted(grant_of(1, 1))) << "this incarnation is held";
    EXPECT_TRUE(regions.on_granted(grant_of(1, 2)));
    const auto second = regions.allocate(defaults.region_bytes);
    ASSERT_TRUE(second);
    EXPECT_EQ(second->offset, defaults.region_offset(1));
    regions.finish(*first);
    regions.finish(*second);
  });
  const StoreRun run = store.run();
  EXPECT_TRUE(run.problems.empty()) << describe(run);
}

}  // namespace
}  // namespace falafel::engine_test
