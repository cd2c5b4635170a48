// The audit of a table full of foreign locks: it looks at each entry a bounded number of times, and
// lets other fibers run in between.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "engine/layout/container.h"
#include "engine/local_memory.h"
#include "engine/server/container_reader.h"
#include "engine/server/loopback.h"
#include "engine/server/processor_updater.h"
#include "engine/server/table_audit.h"
#include "fabric/fiber_stack.h"
#include "fabric/sim/simulation.h"
#include "fabric/sim/strategies/make_strategy.h"
#include "tests/engine/planted.h"

namespace falafel::engine_test {
namespace {

using engine::Entry;

constexpr std::uint64_t bench_entries = 8'192;
constexpr std::uint64_t home = 4'000;

// Memory that counts how often the server looks at a word.
class CountingBlock final : public fabric::MemoryBlock {
 public:
  explicit CountingBlock(std::uint64_t size_bytes) : words_(size_bytes / fabric::word_bytes) {}

  std::uint64_t loads() const { return loads_; }

  std::span<std::byte> bytes() override { return std::as_writable_bytes(std::span(words_)); }
  std::uint64_t load(std::uint64_t offset) override {
    ++loads_;
    return word(offset);
  }
  void store(std::uint64_t offset, std::uint64_t value) override { word(offset) = value; }
  std::uint64_t compare_and_swap(std::uint64_t offset, std::uint64_t expected,
                                 std::uint64_t desired) override {
    const std::uint64_t previous = word(offset);
    if (previous == expected) word(offset) = desired;
    return previous;
  }
  void read(std::uint64_t offset, std::span<std::byte> destination) override {
    std::ranges::copy(bytes().subspan(offset, destination.size()), destination.begin());
  }
  void write(std::uint64_t offset, std::span<const std::byte> source) override {
    std::ranges::copy(source, bytes().subspan(offset).begin());
  }
  std::uint64_t wait_until_changed(std::uint64_t offset, std::uint64_t /*seen*/,
                                   std::uint64_t /*deadline_ns*/) override {
    return word(offset);
  }
  fabric::Result<void> commit(std::uint64_t /*offset*/, std::uint64_t /*length_bytes*/) override {
    return {};
  }
  void release(std::uint64_t /*offset*/, std::uint64_t /*length_bytes*/) override {}

 private:
  std::uint64_t& word(std::uint64_t offset) { return words_[offset / fabric::word_bytes]; }

  std::vector<std::uint64_t> words_;
  std::uint64_t loads_ = 0;
};

// A server's memory with an audit, and no clients.
class AuditBench {
 public:
  explicit AuditBench(fabric::Host& host)
      : domain_(host.device(0).create_protection_domain()),
        connector_(host, *domain_, options_),
        reader_(host, chunk_, book_, connector_, 0,
                engine::allocate_local_memory(host, *domain_, 4'096).value()),
        updater_(chunk_),
        audit(host, chunk_, options_.safeguards, book_, updater_, reader_, statistics) {}

  // All entries are locked and point to a key with this home slot.
  void lock_all() {
    const Bytes key = key_at(home, 0, bench_entries);
    Bytes container(engine::container_bytes(key.size(), 0));
    engine::write_container(key, {}, container);
    const std::uint64_t offset = book_.mature().allocate(container.size());
    chunk_.write(offset, container);
    for (std::uint64_t slot = 0; slot < bench_entries; ++slot) {
      set(slot, Entry().pointing_to(chunk_.geometry.to_units(offset)).with_locked());
    }
  }
  void set(std::uint64_t slot, Entry entry) {
    block_->store(chunk_.geometry.entry_offset(slot), entry.word());
  }
  Entry entry(std::uint64_t slot) { return chunk_.load_entry(slot); }
  std::uint64_t loads() const { return block_->loads(); }

 private:
  engine::ServerOptions options_{
      .geometry = {.table_entries = bench_entries, .region_bytes = 4'096, .region_count = 2}};
  std::shared_ptr<CountingBlock> block_ =
      std::make_shared<CountingBlock>(options_.geometry.chunk_bytes());
  engine::Chunk chunk_{.geometry = options_.geometry, .hash_key = {}, .block = block_};
  engine::MemoryBook book_{options_.geometry};
  std::unique_ptr<fabric::ProtectionDomain> domain_;
  engine::LoopbackConnector connector_;
  engine::ContainerReader reader_;
  engine::ProcessorUpdater updater_;

 public:
  engine::ServerStatistics statistics;
  engine::TableAudit audit;
};

// Runs `body` in a fiber of a simulated host.
void run_on_a_host(const std::function<void(fabric::Host&)>& body) {
  const sim::SimulationOptions options;
  fabric::FiberStackPool stacks;
  const auto strategy = sim::make_strategy(options, 1);
  sim::Simulation simulation(options, *strategy, stacks);
  simulation.add_host({.name = "server", .role = sim::Role::server}, body);
  const sim::RunResult result = simulation.run();
  EXPECT_EQ(result.outcome, sim::Outcome::completed) << result.explanation;
}

struct Looks {
  std::uint64_t total = 0;
  std::uint64_t most_in_a_piece = 0;
  std::uint64_t most_in_a_turn = 0;  // while another fiber of the host was ready
};

// Audits the table once.
Looks audit(fabric::Host& host, AuditBench& bench) {
  Looks looks;
  bool is_over = false;
  std::uint64_t at_last_turn = bench.loads();
  const fabric::FiberId other = host.spawn({.name = "other"}, [&] {
    while (!is_over) {
      looks.most_in_a_turn = std::max(looks.most_in_a_turn, bench.loads() - at_last_turn);
      at_last_turn = bench.loads();
      host.yield();
    }
    looks.most_in_a_turn = std::max(looks.most_in_a_turn, bench.loads() - at_last_turn);
  });
  const std::uint64_t at_begin = bench.loads();
  while (!is_over) {
    const std::uint64_t before = bench.loads();
    is_over = bench.audit.walk_piece();
    looks.most_in_a_piece = std::max(looks.most_in_a_piece, bench.loads() - before);
    if (!is_over) host.yield();
  }
  looks.total = bench.loads() - at_begin;
  host.join(other);
  return looks;
}

// An update counts as sixteen looks. The simulator may give the audit several turns in succession.
void expect_paced(const Looks& looks) {
  EXPECT_LE(looks.total, 8 * bench_entries);
  EXPECT_LE(looks.most_in_a_piece, 8'192U);
  EXPECT_LE(looks.most_in_a_turn, 32'768U);
}

TEST(AuditOfForeignLocks, IsLinearAndPaced) {
  run_on_a_host([](fabric::Host& host) {
    AuditBench bench(host);
    bench.lock_all();
    expect_paced(audit(host, bench));
    EXPECT_EQ(bench.statistics.entries_repaired, bench_entries);
    for (std::uint64_t slot = 0; slot < bench_entries; ++slot) {
      ASSERT_FALSE(bench.entry(slot).is_locked()) << slot;
      ASSERT_FALSE(bench.entry(slot).is_deleted()) << slot;
    }
  });
}

// Searches for the key end at the empty entry, which is behind the end of the table.
TEST(AuditOfForeignLocks, FindsWhatIsBehindAnEmptyEntry) {
  constexpr std::uint64_t empty = 100;
  run_on_a_host([](fabric::Host& host) {
    AuditBench bench(host);
    bench.lock_all();
    bench.set(empty, Entry());
    expect_paced(audit(host, bench));
    EXPECT_EQ(bench.statistics.entries_repaired, bench_entries - 1);
    for (std::uint64_t slot = 0; slot < bench_entries; ++slot) {
      const bool is_reachable = slot < empty || slot >= home;
      ASSERT_FALSE(bench.entry(slot).is_locked()) << slot;
      ASSERT_EQ(bench.entry(slot).is_deleted(), !is_reachable && slot != empty) << slot;
    }
  });
}

// The audit has passed the home slot while it was empty.
TEST(AuditOfForeignLocks, FindsWhatClientsHaveInsertedMeanwhile) {
  run_on_a_host([](fabric::Host& host) {
    AuditBench bench(host);
    ASSERT_FALSE(bench.audit.walk_piece());
    bench.lock_all();
    while (!bench.audit.walk_piece()) host.yield();
    for (std::uint64_t slot = bench_entries / 2 + home / 4; slot < bench_entries; ++slot) {
      ASSERT_FALSE(bench.entry(slot).is_locked()) << slot;
      ASSERT_FALSE(bench.entry(slot).is_deleted()) << slot;
    }
  });
}

}  // namespace
}  // namespace falafel::engine_test
