// Memory that outlives the process of its host: what the next process finds, and that nobody of
// the former one changes it any more.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fabric/sim/simulation.h"
#include "fabric/sim/strategies/random_strategy.h"

namespace falafel::sim {
namespace {

using fabric::ErrorCode;

constexpr std::uint64_t kept_seeds = 300;
constexpr std::uint64_t kept_bytes = 4'096;
constexpr std::uint64_t counter_offset = 0;  // which the peer swaps
constexpr std::uint64_t data_offset = 1'024;
constexpr std::uint64_t data_bytes = 2'048;

// Runs `first` in a process that then dies, and `second` in the next one.
RunResult run_two_lives(std::uint64_t seed, const SimulationOptions& options,
                        const std::function<void(fabric::Host&)>& first,
                        const std::function<void(fabric::Host&)>& second) {
  fabric::FiberStackPool stacks;
  RandomStrategy strategy(seed);
  Simulation simulation(options, strategy, stacks);
  bool was_there = false;
  simulation.add_host({.name = "server", .role = Role::server}, [&](fabric::Host& host) {
    if (was_there) return second(host);
    was_there = true;
    first(host);
    simulation.crash("server");
    host.yield();
  });
  simulation.add_host({.name = "operator"}, [&](fabric::Host& host) {
    host.sleep_until(host.now_ns() + 1'000'000);
    simulation.restart("server");
  });
  const RunResult result = simulation.run();
  EXPECT_EQ(result.outcome, Outcome::completed) << result.explanation;
  return result;
}

fabric::KeptMemory keep(fabric::Host& host, const std::string& name) {
  return host.keep_memory(name, kept_bytes).value();
}

std::optional<ErrorCode> refusal(fabric::Host& host, const std::string& name, std::uint64_t bytes) {
  const auto kept = host.keep_memory(name, bytes);
  return kept ? std::nullopt : std::optional(kept.error().code);
}

TEST(KeptMemory, IsZeroWhenItIsNewAndHasAllStoresOfTheProcessThatDied) {
  for (std::uint64_t seed = 0; seed < kept_seeds; ++seed) {
    run_two_lives(
        seed, {.store_buffers = seed % 2 == 0},
        [](fabric::Host& host) {
          const fabric::KeptMemory kept = keep(host, "store");
          EXPECT_TRUE(kept.is_new);
          EXPECT_TRUE(std::ranges::all_of(kept.block->bytes(),
                                          [](std::byte byte) { return byte == std::byte{0}; }));
          for (std::uint64_t word = 0; word < 8; ++word) kept.block->store(word * 8, word + 1);
        },
        [](fabric::Host& host) {
          const fabric::KeptMemory kept = keep(host, "store");
          EXPECT_FALSE(kept.is_new);
          for (std::uint64_t word = 0; word < 8; ++word) {
            EXPECT_EQ(kept.block->load(word * 8), word + 1);
          }
          EXPECT_TRUE(keep(host, "another store").is_new);
        });
  }
}

TEST(KeptMemory, HasOneSizeAndOneKeeperAtATime) {
  run_two_lives(
      1, {},
      [](fabric::Host& host) {
        const fabric::KeptMemory kept = keep(host, "store");
        EXPECT_EQ(refusal(host, "store", kept_bytes), ErrorCode::address_in_use);
        EXPECT_EQ(refusal(host, "empty", 0), ErrorCode::invalid_argument);
        EXPECT_TRUE(keep(host, "empty").is_new) << "a refusal keeps nothing";
      },
      [](fabric::Host& host) {
        EXPECT_EQ(refusal(host, "store", kept_bytes / 2), ErrorCode::invalid_argument);
        const auto domain = host.device(0).create_protection_domain();
        auto kept = keep(host, "store");
        auto region = domain->register_memory(kept.block, 0, kept_bytes, {}).value();
        EXPECT_EQ(refusal(host, "store", kept_bytes), ErrorCode::address_in_use);
        region.reset();
        kept.block.reset();
        EXPECT_FALSE(keep(host, "store").is_new) << "a process may keep it again";
      });
}

// A connection's objects on one host.
struct KeptSide {
  explicit KeptSide(fabric::Host& host)
      : domain(host.device(0).create_protection_domain()),
        completions(host.device(0).create_completion_queue(64).value()) {}
  fabric::QueuePairOptions options() const {
    return {.protection_domain = domain.get(),
            .send_completions = completions.get(),
            .receive_completions = completions.get(),
            .max_send_requests = 16,
            .max_receive_requests = 4,
            .acknowledge_timeout_ns = 50'000};
  }
  std::unique_ptr<fabric::ProtectionDomain> domain;
  std::unique_ptr<fabric::CompletionQueue> completions;
};

// A peer fills the data of a server with the numbers 1, 2, ..., and counts them, until the server
// dies. The next process of the server keeps the memory.
struct PeerRun {
  RunResult result;
  std::uint64_t confirmed = 0;  // the number whose requests have completed
  std::vector<std::byte> found;
  std::uint64_t found_by_processor = 0;
  std::vector<std::byte> later;  // at the end
};

PeerRun run_with_peer(std::uint64_t seed, const SimulationOptions& options) {
  fabric::FiberStackPool stacks;
  RandomStrategy strategy(seed);
  Simulation simulation(options, strategy, stacks);
  PeerRun run;
  std::uint32_t remote_key = 0;
  bool was_there = false;
  const auto copy = [](const fabric::KeptMemory& kept) {
    const auto bytes = kept.block->bytes();
    return std::vector<std::byte>(bytes.begin(), bytes.end());
  };
  simulation.add_host({.name = "server", .role = Role::server}, [&](fabric::Host& host) {
    const fabric::KeptMemory kept = keep(host, "store");
    if (was_there) {
      run.found_by_processor = kept.block->load(data_offset);
      run.found = copy(kept);
      host.sleep_until(host.now_ns() + 10'000'000);
      run.later = copy(kept);
      return;
    }
    was_there = true;
    const KeptSide side(host);
    const auto region =
        side.domain
            ->register_memory(kept.block, 0, kept_bytes,
                              {.local_write = true, .remote_write = true, .remote_atomic = true})
            .value();
    remote_key = region->remote_key();
    const auto listener = host.device(0).listen(1).value();
    const auto queue_pair = listener->accept(fabric::never_ns)->accept(side.options(), {}).value();
    while (run.confirmed < 2 + seed % 3) host.sleep_until(host.now_ns() + 1'000);
    for (std::uint64_t wait = 0; wait < seed % 17; ++wait) host.yield();
    simulation.crash("server");
    host.yield();
  });
  simulation.add_host({.name = "peer"}, [&](fabric::Host& host) {
    const KeptSide side(host);
    host.sleep_until(host.now_ns() + 1'000);  // the server listens by then
    const auto connection =
        host.device(0).connect({"server", 1}, side.options(), {}, fabric::never_ns).value();
    const auto block = host.allocate_memory(data_bytes + 8).value();
    const auto local =
        side.domain->register_memory(block, 0, data_bytes + 8, {.local_write = true}).value();
    for (std::uint64_t number = 1;; ++number) {
      for (std::uint64_t word = 0; word < data_bytes / 8; ++word) block->store(word * 8, number);
      std::array<fabric::WorkRequest, 2> chain;
      chain[0].opcode = fabric::Opcode::write;
      chain[0].length_bytes = data_bytes;
      chain[0].local = {local->local_key(), 0};
      chain[0].remote = {remote_key, data_offset};
      chain[1].opcode = fabric::Opcode::compare_and_swap;
      chain[1].length_bytes = 8;
      chain[1].local = {local->local_key(), data_bytes};
      chain[1].remote = {remote_key, counter_offset};
      chain[1].compare = number - 1;
      chain[1].swap_or_add = number;
      if (!connection.queue_pair->post_send(chain)) return;
      for (int completed = 0; completed < 2;) {
        fabric::WorkCompletion completion;
        if (side.completions->poll({&completion, 1}) == 0) {
          side.completions->wait(fabric::never_ns);
          continue;
        }
        if (completion.status != fabric::CompletionStatus::success) return;
        ++completed;
      }
      run.confirmed = number;
    }
  });
  // At once, while requests of the peer still land.
  simulation.add_host({.name = "operator"}, [&](fabric::Host& host) {
    while (run.found.empty()) {
      host.yield();
      simulation.restart("server");
    }
  });
  run.result = simulation.run();
  EXPECT_EQ(run.result.outcome, Outcome::completed) << run.result.explanation;
  return run;
}

std::uint64_t word_at(const std::vector<std::byte>& bytes, std::uint64_t offset) {
  std::uint64_t word = 0;
  std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(offset), sizeof word,
              reinterpret_cast<std::byte*>(&word));
  return word;
}

SimulationOptions options_with_peer(std::uint64_t seed) {
  SimulationOptions options{.step_limit = 500'000};
  options.mtu_bytes = 256;
  options.late_visibility = seed % 2 == 0;
  options.store_buffers = seed % 3 == 0;
  return options;
}

TEST(KeptMemory, IsNotChangedByPeersOfAProcessThatDied) {
  std::uint64_t torn = 0;
  for (std::uint64_t seed = 0; seed < kept_seeds; ++seed) {
    const PeerRun run = run_with_peer(seed, options_with_peer(seed));
    ASSERT_TRUE(run.found == run.later) << "seed " << seed;
    torn += word_at(run.found, data_offset) != word_at(run.found, data_offset + data_bytes - 8);
  }
  EXPECT_GT(torn, 0U) << "the server never died while data of the peer was arriving";
}

TEST(KeptMemory, HasAllThatPeersWereTold) {
  for (std::uint64_t seed = 0; seed < kept_seeds; ++seed) {
    const PeerRun run = run_with_peer(seed, options_with_peer(seed));
    ASSERT_GE(word_at(run.found, counter_offset), run.confirmed) << "seed " << seed;
    for (std::uint64_t word = 0; word < data_bytes / 8; ++word) {
      ASSERT_GE(word_at(run.found, data_offset + word * 8), run.confirmed) << "seed " << seed;
    }
    ASSERT_EQ(run.found_by_processor, word_at(run.found, data_offset)) << "seed " << seed;
  }
}

TEST(KeptMemory, IsTheSameInTwoRunsOfASeed) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const PeerRun first = run_with_peer(seed, options_with_peer(seed));
    const PeerRun second = run_with_peer(seed, options_with_peer(seed));
    EXPECT_EQ(first.result.trace_hash, second.result.trace_hash) << "seed " << seed;
    EXPECT_TRUE(first.later == second.later) << "seed " << seed;
  }
}

}  // namespace
}  // namespace falafel::sim
