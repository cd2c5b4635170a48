// Fibers that are cancelled during an operation must not stop other fibers of their client.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdint>

#include "tests/engine/store.h"

namespace falafel::engine_test {
namespace {

// One fiber of a client polls for all of them. When it is cancelled, another fiber has to take
// over. The same holds when the fiber that was woken to take over is cancelled.
TEST(CancelledOperation, LeavesPollingToTheOthers) {
  fabric::FiberStackPool stacks;
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    for (const std::uint64_t steps : {0U, 2U, 4U, 8U, 12U, 16U, 20U, 24U, 28U, 32U}) {
      SCOPED_TRACE(fmt::format("seed {}, cancelled after {} steps", seed, steps));
      StoreOptions options;
      options.seed = seed;
      options.simulation.step_limit = 100'000;
      TestStore store(options, stacks);
      store.add_client([&](fabric::Host& host, Client& client) {
        const Bytes key = bytes_of("key");
        EXPECT_EQ(client.set(key, bytes_of("value")).answer, Answer::stored);
        const fabric::FiberId first = host.spawn({.name = "first"}, [&] { client.get(key); });
        const fabric::FiberId cancelled =
            host.spawn({.name = "cancelled"}, [&] { client.get(key); });
        Answer answer = Answer::disconnected;
        const fabric::FiberId other =
            host.spawn({.name = "other"}, [&] { answer = client.get(key).answer; });
        host.sleep_until(host.now_ns() + steps * options.simulation.step_duration_ns);
        host.cancel(cancelled);
        host.join(cancelled);
        host.join(first);
        host.join(other);
        EXPECT_EQ(answer, Answer::found);
        EXPECT_EQ(client.get(key).answer, Answer::found);
      });
      const StoreRun run = store.run();
      ASSERT_TRUE(run.problems.empty()) << describe(run);
    }
  }
}

}  // namespace
}  // namespace falafel::engine_test
