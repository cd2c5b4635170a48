// The simulator finds programs that use memory which they have not committed.
#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <memory>
#include <string>

#include "fabric/sim/simulation.h"
#include "fabric/sim/strategies/random_strategy.h"
#include "fabric/sim/words/range_set.h"

namespace falafel::sim {
namespace {

constexpr std::uint64_t reserved_bytes = 4'096;

// Returns what the simulator reports about a program that reserves memory.
std::string uncommitted_use_of(const std::function<void(fabric::MemoryBlock&)>& program) {
  fabric::FiberStackPool stacks;
  RandomStrategy strategy(1);
  Simulation simulation({}, strategy, stacks);
  simulation.add_host({.name = "host"}, [&](fabric::Host& host) {
    const auto block = host.reserve_memory(reserved_bytes).value();
    ASSERT_TRUE(block->commit(64, 64).has_value());
    program(*block);
  });
  const RunResult result = simulation.run();
  EXPECT_EQ(result.outcome, Outcome::completed);
  return result.uncommitted_use;
}

TEST(CommittedMemory, UseOfCommittedMemoryIsNotReported) {
  EXPECT_EQ(uncommitted_use_of([](fabric::MemoryBlock& block) {
              block.store(64, 1);
              block.compare_and_swap(120, 0, 1);
              std::array<std::byte, 64> bytes{};
              block.read(64, bytes);
              block.write(64, bytes);
            }),
            "");
}

TEST(CommittedMemory, EachUseOfOtherMemoryIsReported) {
  std::array<std::byte, 64> bytes{};
  EXPECT_NE(uncommitted_use_of([](fabric::MemoryBlock& block) { block.load(56); }), "");
  EXPECT_NE(uncommitted_use_of([](fabric::MemoryBlock& block) { block.store(128, 1); }), "");
  EXPECT_NE(uncommitted_use_of([](fabric::MemoryBlock& block) { block.compare_and_swap(0, 0, 1); }),
            "");
  EXPECT_NE(uncommitted_use_of([&](fabric::MemoryBlock& block) { block.read(8, bytes); }), "");
  EXPECT_NE(uncommitted_use_of([&](fabric::MemoryBlock& block) { block.write(72, bytes); }), "");
  EXPECT_NE(uncommitted_use_of([](fabric::MemoryBlock& block) {
              block.release(64, 8);
              block.load(64);
            }),
            "");
}

TEST(RangeSet, RangesJoinAndSplit) {
  RangeSet set;
  EXPECT_TRUE(set.empty());
  set.add(10, 20);
  set.add(20, 30);
  set.add(40, 50);
  EXPECT_FALSE(set.intersects(0, 10));
  EXPECT_TRUE(set.intersects(29, 31));
  EXPECT_FALSE(set.intersects(30, 40));
  EXPECT_FALSE(set.intersects(15, 15));
  set.remove(15, 45);
  EXPECT_TRUE(set.intersects(14, 15));
  EXPECT_FALSE(set.intersects(15, 45));
  EXPECT_TRUE(set.intersects(45, 46));
  set.add(0, 100);
  EXPECT_TRUE(set.intersects(30, 31));
  set.remove(0, 100);
  EXPECT_TRUE(set.empty());
}

}  // namespace
}  // namespace falafel::sim
