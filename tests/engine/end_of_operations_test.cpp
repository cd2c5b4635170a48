// A client learns when the operations of all clients have ended that began before its question.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "tests/engine/schedules.h"
#include "tests/engine/store.h"

namespace falafel::engine_test {
namespace {

constexpr std::uint64_t patience_ns = 60 * second_ns;

TEST(EndOfOperations, IncludesThoseThatWaitForBuffers) {
  for_each_seed(20, [](std::uint64_t seed, fabric::FiberStackPool& stacks) {
    StoreOptions options;
    options.seed = seed;
    options.client.max_operations_in_flight = 1;
    TestStore store(options, stacks);
    int begun = 0;
    int ended = 0;
    store.add_client([&](fabric::Host& host, Client& client) {
      host.sleep_until(millisecond_ns);
      std::vector<fabric::FiberId> fibers;
      for (int number = 0; number < 4; ++number) {
        fibers.push_back(host.spawn({.name = "operation"}, [&, number] {
          ++begun;
          client.set(bytes_of(std::to_string(number)), {});
          ++ended;
        }));
      }
      for (const fabric::FiberId fiber : fibers) host.join(fiber);
    });
    store.add_client([&](fabric::Host& host, Client& client) {
      host.sleep_until(millisecond_ns + 1 + host.random(20'000));
      const int begun_before = begun;
      EXPECT_TRUE(client.wait_for_end_of_operations(patience_ns));
      EXPECT_GE(ended, begun_before);
    });
    run_without_problems(store);
  });
}

TEST(EndOfOperations, IsToldToSeveralClientsAtOnce) {
  for_each_seed(20, [](std::uint64_t seed, fabric::FiberStackPool& stacks) {
    StoreOptions options;
    options.seed = seed;
    TestStore store(options, stacks);
    for (int number = 0; number < 3; ++number) {
      store.add_client([&](fabric::Host&, Client& client) {
        for (int count = 0; count < 3; ++count) {
          EXPECT_EQ(client.set(bytes_of("key"), {}).answer, Answer::stored);
          EXPECT_TRUE(client.wait_for_end_of_operations(patience_ns));
        }
      });
    }
    run_without_problems(store);
  });
}

TEST(EndOfOperations, IsUnknownWhileTheServerIsStopped) {
  fabric::FiberStackPool stacks;
  TestStore store({}, stacks);
  store.add_client([&](fabric::Host& host, Client& client) {
    store.simulation().pause("server", second_ns);
    const auto ended = client.wait_for_end_of_operations(second_ns / 2);
    EXPECT_EQ(ended, tl::unexpected(Answer::timed_out));
    host.sleep_until(host.now_ns() + second_ns);
    EXPECT_TRUE(client.wait_for_end_of_operations(patience_ns));
  });
  run_without_problems(store);
}

}  // namespace
}  // namespace falafel::engine_test
