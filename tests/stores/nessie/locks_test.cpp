// The locks of workers.
#include "stores/nessie/locks.h"

#include <gtest/gtest.h>

#include "tests/stores/nessie/one_host.h"

namespace falafel::nessie_test {
namespace {

using nessie::LockHolder;
using nessie::Locks;

// Fibers that hold one or two of three locks, and never the same one at once.
TEST(Locks, ExcludeHoldersOfTheSameNumber) {
  std::uint64_t waits = 0;
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    on_one_host(
        [&](fabric::Host& host) {
          Locks locks(host, 3);
          std::vector<int> holders(3);
          std::vector<fabric::FiberId> fibers;
          for (std::uint64_t fiber = 0; fiber < 4; ++fiber) {
            fibers.push_back(host.spawn({}, [&, fiber] {
              for (std::uint64_t turn = 0; turn < 4; ++turn) {
                const Locks::Numbers numbers{(fiber + turn) % 3, 2 * fiber % 3};
                LockHolder holder(locks);
                holder.lock(numbers);
                for (const auto number : numbers) EXPECT_EQ(++holders[number], 1);
                host.yield();
                for (const auto number : numbers) --holders[number];
              }
            }));
          }
          for (const auto fiber : fibers) host.join(fiber);
          waits += locks.waits();
        },
        seed);
  }
  EXPECT_GT(waits, 0U);
}

TEST(Locks, AreFreeWhenTheirHolderTakesOthers) {
  on_one_host([](fabric::Host& host) {
    Locks locks(host, 3);
    LockHolder first(locks);
    first.lock({0, 1});
    first.lock({1, 2});
    LockHolder second(locks);
    second.lock({0});
    EXPECT_EQ(locks.waits(), 0U);
  });
}

}  // namespace
}  // namespace falafel::nessie_test
