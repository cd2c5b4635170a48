// Collections: concurrent activity, and the contents of a region afterwards.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "engine/layout/container.h"
#include "tests/engine/store.h"

namespace falafel::engine_test {
namespace {

using engine::RegionState;

Bytes padded_key(int number) { return bytes_of(fmt::format("key {:03}", number)); }

std::uint64_t count_regions(const Server& server, RegionState state) {
  const auto regions = server.inspect().regions;
  return static_cast<std::uint64_t>(
      std::ranges::count(regions, state, &engine::RegionInspection::state));
}

TEST(Collection, DoesNotKeepAGrantWaiting) {
  constexpr int containers_per_region = 400;
  StoreOptions options;
  engine::Geometry& geometry = options.server.geometry;
  geometry.region_bytes =
      containers_per_region * geometry.round_up_to_unit(engine::container_bytes(7, 1));
  options.server.pipelined_updates = 1;  // one round trip per moved container
  options.client.renewal_percent = 100;
  fabric::FiberStackPool stacks;
  TestStore store(options, stacks);
  bool was_collecting = false;
  store.add_client([&](fabric::Host& host, Client& client) {
    for (int number = 0; number <= containers_per_region; ++number) {
      ASSERT_EQ(client.set(padded_key(number), bytes_of("1")).answer, Answer::stored);
    }
    host.sleep_until(host.now_ns() + millisecond_ns);  // until the release has been sent
  });
  store.add_client([&](fabric::Host& host, Client& client) {
    while (count_regions(*store.server(), RegionState::collecting) == 0) {
      host.sleep_until(host.now_ns() + 1 * microsecond_ns);
    }
    ASSERT_EQ(client.set(bytes_of("in between"), bytes_of("2")).answer, Answer::stored);
    was_collecting = count_regions(*store.server(), RegionState::collecting) > 0;
  });
  const StoreRun run = store.run();
  EXPECT_TRUE(run.problems.empty()) << describe(run);
  EXPECT_TRUE(was_collecting) << "the grant came after the collection";
}

}  // namespace
}  // namespace falafel::engine_test
