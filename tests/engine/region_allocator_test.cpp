// The server's messages about regions are input: inconsistent ones are rejected and change nothing.
// A denial refuses memory to those who called before the request.
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
    const auto first = regions.allocate(1'024, fabric::never_ns);
    ASSERT_TRUE(first);
    EXPECT_FALSE(regions.on_granted(grant_of(1, 1))) << "this incarnation is held";
    EXPECT_TRUE(regions.on_granted(grant_of(1, 2)));
    const auto second = regions.allocate(defaults.region_bytes, fabric::never_ns);
    ASSERT_TRUE(second);
    EXPECT_EQ(second->offset, defaults.region_offset(1));
    regions.finish(*first);
    regions.finish(*second);
  });
  const StoreRun run = store.run();
  EXPECT_TRUE(run.problems.empty()) << describe(run);
}

// Memory may have come back between the denial and the call.
TEST(RegionAllocator, IsNotRefusedByADenialOfWhatWasAskedForBefore) {
  fabric::FiberStackPool stacks;
  TestStore store({}, stacks);
  store.add_host("client", [](fabric::Host& host) {
    engine::RegionAllocator regions(host, engine::Geometry{}, {.renewal_percent = 100}, [] {});
    const auto take = [&] { return regions.allocate(1'024, fabric::never_ns); };
    const fabric::FiberId early = host.spawn({.name = "early"}, [&] {
      const auto allocation = take();
      ASSERT_FALSE(allocation);
      EXPECT_EQ(allocation.error(), Answer::out_of_memory);
    });
    host.sleep_until(host.now_ns() + microsecond_ns);
    ASSERT_TRUE(regions.take_message()) << "the early one asks";
    const fabric::FiberId late = host.spawn({.name = "late"}, [&] {
      const auto allocation = take();
      ASSERT_TRUE(allocation);
      regions.finish(*allocation);
    });
    host.sleep_until(host.now_ns() + microsecond_ns);
    EXPECT_TRUE(regions.on_denied());
    host.sleep_until(host.now_ns() + microsecond_ns);
    EXPECT_TRUE(regions.take_message()) << "the late one asks as well";
    EXPECT_TRUE(regions.on_granted(grant_of(0, 1)));
    host.join(early);
    host.join(late);
  });
  const StoreRun run = store.run();
  EXPECT_TRUE(run.problems.empty()) << describe(run);
}

}  // namespace
}  // namespace falafel::engine_test
