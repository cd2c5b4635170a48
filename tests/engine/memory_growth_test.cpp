// Memory that grows while clients use it, and shrinks when they need less.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "engine/probes.h"
#include "engine/server/blocks.h"
#include "engine/server/held_memory.h"
#include "fabric/sim/strategies/make_strategy.h"
#include "tests/engine/store.h"

namespace falafel::engine_test {
namespace {

constexpr std::uint64_t grown_block_bytes = 4'096;
constexpr std::uint32_t grown_block_count = 128;
constexpr std::size_t grown_value_bytes = 100;

StoreOptions options_of_memory_growth() {
  StoreOptions options;
  options.simulation.step_limit = 60'000'000;
  options.simulation.granularity = sim::Granularity::packet;
  options.server.heartbeat_timeout_ns = 10 * second_ns;
  options.server.memory_grows = true;
  options.server.geometry = {.table_entries = 8'192,
                             .region_bytes = grown_block_bytes,
                             .region_count = 4,
                             .mature_bytes = grown_block_bytes,
                             .mature_space_count = grown_block_count};
  return options;
}

Bytes key_of_growth(std::uint64_t number) { return bytes_of(fmt::format("key {:06}", number)); }

StoreRun run_memory_growth(TestStore& store) {
  StoreRun run = store.run();
  EXPECT_TRUE(run.problems.empty()) << describe(run);
  return run;
}

void set_keys(Client& client, std::uint64_t keys) {
  for (std::uint64_t key = 0; key < keys; ++key) {
    ASSERT_EQ(client.set(key_of_growth(key), Bytes(grown_value_bytes)).answer, Answer::stored)
        << key;
  }
}

std::uint64_t held_blocks(const engine::ServerInspection& inspection) {
  std::uint64_t held = 0;
  for (const engine::MatureSpaceInspection& space : inspection.mature_spaces) {
    held += space.held ? 1U : 0U;
  }
  return held;
}

TEST(MemoryGrowth, HoldsAboutAsMuchAsTheDataNeed) {
  fabric::FiberStackPool stacks;
  TestStore store(options_of_memory_growth(), stacks);
  std::uint64_t at_first = 0;
  store.add_client([&](fabric::Host&, Client& client) {
    at_first = held_blocks(store.server()->inspect());
    set_keys(client, 500);
  });
  const StoreRun run = run_memory_growth(store);
  EXPECT_LE(at_first, 4U);
  EXPECT_EQ(run.state.contents.size(), 500U);
  // 500 containers fill 19 blocks.
  EXPECT_GE(held_blocks(run.inspection), 19U);
  EXPECT_LE(held_blocks(run.inspection), 40U);
  EXPECT_GT(run.probe(engine::probes::memory_grew), 0U);
  EXPECT_LT(run.inspection.held_bytes, options_of_memory_growth().server.geometry.chunk_bytes());
}

// The server read a container that a hostile client had made, and that reached from one part over
// bytes without memory into the next one.
TEST(MemoryGrowth, HoldsNothingBetweenItsParts) {
  StoreOptions options = options_of_memory_growth();
  engine::Geometry& geometry = options.server.geometry;
  geometry.mature_bytes = grown_block_bytes + 32;  // another 32 bytes align the next block
  options.server.least_held_bytes = geometry.chunk_bytes();
  fabric::FiberStackPool stacks;
  TestStore store(options, stacks);
  store.add_client([&](fabric::Host&, Client&) {
    const std::uint64_t second = geometry.mature_offset(1);
    const std::uint64_t end_of_first = geometry.mature_offset(0) + geometry.mature_bytes;
    ASSERT_LT(end_of_first, second);
    EXPECT_TRUE(store.server()->holds(end_of_first - 24, 24));
    EXPECT_TRUE(store.server()->holds(second, 64));
    EXPECT_FALSE(store.server()->holds(end_of_first - 24, 32));
    EXPECT_FALSE(store.server()->holds(end_of_first - 24, second - end_of_first + 32));
  });
  run_memory_growth(store);
}

TEST(MemoryGrowth, RefusesASetAtTheLimitOnly) {
  fabric::FiberStackPool stacks;
  TestStore store(options_of_memory_growth(), stacks);
  std::uint64_t keys = 0;
  store.add_client([&](fabric::Host&, Client& client) {
    while (client.set(key_of_growth(keys), Bytes(grown_value_bytes)).answer == Answer::stored) {
      ++keys;
    }
    EXPECT_EQ(client.set(key_of_growth(keys), Bytes(grown_value_bytes)).answer,
              Answer::out_of_memory);
    for (std::uint64_t key = 0; key < keys; key += 37) {
      EXPECT_EQ(client.get(key_of_growth(key)).answer, Answer::found) << key;
    }
  });
  const StoreRun run = run_memory_growth(store);
  EXPECT_GE(held_blocks(run.inspection), grown_block_count - 4);
  EXPECT_EQ(run.state.contents.size(), keys);
  EXPECT_GT(keys, 2'500U);
}

TEST(MemoryGrowth, GivesBackWhatDeletedKeysNeeded) {
  constexpr std::uint64_t keys = 1'500;
  fabric::FiberStackPool stacks;
  TestStore store(options_of_memory_growth(), stacks);
  std::uint64_t most = 0;
  store.add_client([&](fabric::Host& host, Client& client) {
    set_keys(client, keys);
    most = held_blocks(store.server()->inspect());
    for (std::uint64_t key = 0; key < keys; ++key) {
      if (key % 50 == 0) continue;
      ASSERT_EQ(client.remove(key_of_growth(key)).answer, Answer::deleted);
    }
    host.sleep_until(host.now_ns() + 60 * second_ns);
    EXPECT_LT(held_blocks(store.server()->inspect()), most / 3);
    set_keys(client, keys);
  });
  const StoreRun run = run_memory_growth(store);
  EXPECT_EQ(run.state.contents.size(), keys);
  EXPECT_GT(run.inspection.statistics.blocks_released, 20U);
  EXPECT_GT(run.probe(engine::probes::memory_released), 0U);
}

// Overwriting leaves garbage in all blocks, and a collection is cheaper than more memory.
TEST(MemoryGrowth, OverwritesNeedNoMoreThanTwiceTheData) {
  fabric::FiberStackPool stacks;
  TestStore store(options_of_memory_growth(), stacks);
  store.add_client([&](fabric::Host&, Client& client) {
    for (int round = 0; round < 12; ++round) set_keys(client, 300);
  });
  const StoreRun run = run_memory_growth(store);
  // 12 blocks have live data.
  EXPECT_LE(held_blocks(run.inspection), 34U);
}

// Returns whether the server and the client could begin.
bool meets_refusals(std::uint64_t seed, std::uint64_t& refusals) {
  constexpr std::uint64_t keys = 400;
  fabric::FiberStackPool stacks;
  StoreOptions options = options_of_memory_growth();
  options.seed = seed;
  options.simulation.set_fault_rate(sim::FaultKind::registration_failure, 20);
  options.simulation.last_fault_step = 200'000;
  TestStore store(options, stacks);
  bool has_begun = false;
  store.add_client([&](fabric::Host& host, Client& client) {
    has_begun = true;
    for (std::uint64_t key = 0; key < keys;) {
      const Answer answer = client.set(key_of_growth(key), Bytes(grown_value_bytes)).answer;
      if (answer == Answer::stored) {
        ++key;
        continue;
      }
      ASSERT_EQ(answer, Answer::out_of_memory);
      host.sleep_until(host.now_ns() + millisecond_ns);
    }
  });
  const StoreRun run = store.run();
  if (!has_begun) return false;
  EXPECT_TRUE(run.problems.empty()) << describe(run);
  EXPECT_EQ(run.state.contents.size(), keys);
  refusals += run.inspection.statistics.commits_refused;
  return true;
}

TEST(MemoryGrowth, ARefusalOfTheSystemIsCountedAndLaterSetsTryAgain) {
  std::uint64_t begun = 0;
  std::uint64_t refusals = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) begun += meets_refusals(seed, refusals) ? 1 : 0;
  EXPECT_GT(begun, 2U);
  EXPECT_GT(refusals, 2U);
}

TEST(MemoryGrowth, LaterTablesTakeMemoryWhenTheyBegin) {
  fabric::FiberStackPool stacks;
  StoreOptions options = options_of_memory_growth();
  options.server.geometry.table_entries = 64;
  options.server.geometry.most_tables = 8;
  TestStore store(options, stacks);
  store.add_client([&](fabric::Host&, Client& client) { set_keys(client, 1'000); });
  const StoreRun run = run_memory_growth(store);
  EXPECT_EQ(run.state.contents.size(), 1'000U);
  EXPECT_GE(run.inspection.tables.last, 4U);
}

// Measurements take ten seconds, and all else is done at once.
class SlowMeasurements final : public engine::MatureSpaceControl {
 public:
  explicit SlowMeasurements(fabric::Host& host) : host_(host) {}

  std::vector<engine::LiveSpace> measure_live_data() override {
    has_begun_ = true;
    host_.sleep_until(host_.now_ns() + 10 * second_ns);
    return std::vector<engine::LiveSpace>(grown_block_count);
  }
  void ask_for_collection(std::uint32_t) override {}
  void on_outlook_changed() override {}
  bool evict() override { return false; }

  bool has_begun() const { return has_begun_; }

 private:
  fabric::Host& host_;
  bool has_begun_ = false;
};

void use_blocks_while_measuring(fabric::Host& host) {
  const engine::ServerOptions options = options_of_memory_growth().server;
  engine::ServerStatistics statistics;
  engine::MemoryBook book(options.geometry, false);
  const auto memory = host.reserve_memory(options.geometry.chunk_bytes()).value();
  engine::HeldMemory held(options.geometry, true, memory, book.mature(),
                          statistics.commits_refused);
  SlowMeasurements measurements(host);
  engine::Blocks blocks(host, options, book, held, statistics, measurements);
  const fabric::FiberId cleaner =
      host.spawn({.name = "cleaner", .daemon = true}, [&] { blocks.run(); });
  ASSERT_TRUE(held.hold_block(0));
  const std::uint64_t begin_ns = host.now_ns();
  while (!measurements.has_begun()) {
    blocks.on_waiting({.wanted_ns = host.now_ns()});
    host.sleep_until(host.now_ns() + microsecond_ns);
    if (book.mature().free_count() > 1) book.mature().allocate(grown_block_bytes);
  }
  while (book.mature().free_count() > 0) book.mature().allocate(grown_block_bytes);
  blocks.on_waiting({.wanted_ns = host.now_ns()});
  EXPECT_GE(book.mature().free_count(), 2U);
  EXPECT_LT(host.now_ns() - begin_ns, second_ns);
  host.cancel(cleaner);
  host.join(cleaner);
}

// In a store of nine million keys, a SET waited for a measurement until it timed out.
TEST(MemoryGrowth, DoesNotWaitForAMeasurement) {
  fabric::FiberStackPool stacks;
  const auto strategy = sim::make_strategy({}, 1);
  sim::Simulation simulation({}, *strategy, stacks);
  simulation.add_host({.name = "server", .role = sim::Role::server}, use_blocks_while_measuring);
  const sim::RunResult result = simulation.run();
  EXPECT_EQ(result.outcome, sim::Outcome::completed) << result.explanation;
}

TEST(MemoryGrowth, NeedsBlocks) {
  fabric::FiberStackPool stacks;
  StoreOptions options = options_of_memory_growth();
  options.server.geometry.mature_space_count = engine::semi_space_count;
  TestStore store(options, stacks);
  const StoreRun run = store.run();
  ASSERT_EQ(run.problems.size(), 1U);
  EXPECT_NE(run.problems[0].find("memory_grows"), std::string::npos) << run.problems[0];
}

}  // namespace
}  // namespace falafel::engine_test
