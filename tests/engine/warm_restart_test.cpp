// The server's process dies at any step and its memory stays; the next process starts over it. No
// acknowledged SET or DELETE is lost, one that was not acknowledged has happened or not, and the
// store goes on: every key can be stored again, and nothing is left of what was interrupted.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "engine/layout/key_hash.h"
#include "engine/layout/superblock.h"
#include "engine/probes.h"
#include "fabric/random.h"
#include "tests/engine/schedules.h"
#include "tests/engine/store.h"

namespace falafel::engine_test {
namespace {

namespace probes = engine::probes;
using MaybeValue = std::optional<Bytes>;

constexpr std::uint64_t step_ns = sim::SimulationOptions{}.step_duration_ns;
constexpr int key_count = 4;
constexpr std::uint64_t table_entries = 5;

// Keys with one home slot, so that they are in one chain, around the end of the table.
std::vector<Bytes> choose_keys() {
  constexpr std::uint64_t home = 3;
  std::vector<Bytes> keys;
  for (int number = 0; keys.size() < key_count; ++number) {
    Bytes key = bytes_of(fmt::format("key {}", number));
    if (engine::home_slot(key, engine::HashKey{}, table_entries) == home) keys.push_back(key);
  }
  return keys;
}

Bytes key_of(int number) {
  static const std::vector<Bytes> keys = choose_keys();
  return keys[static_cast<std::size_t>(number)];
}

Bytes value_of(int number, std::size_t length_bytes) {
  std::string text = fmt::format("{}.", number);
  text.resize(length_bytes, '-');
  return bytes_of(text);
}

// A store of few keys whose memory is collected, and whose table is cleaned up, all the time.
struct World {
  std::string name;
  engine::Geometry geometry;
  std::vector<std::size_t> value_lengths_bytes;
  engine::Collection collection = engine::Collection::scan_memory;
  std::uint64_t stride = 2;  // between the steps at which the server dies
};

// Regions of 64 bytes and more hold one or two containers.
std::vector<World> worlds() {
  const engine::Geometry semi_spaces{
      .table_entries = table_entries, .region_bytes = 96, .region_count = 4, .mature_bytes = 480};
  engine::Geometry blocks = semi_spaces;
  blocks.mature_bytes = 96;
  blocks.mature_space_count = 9;
  return {{.name = "semi_spaces", .geometry = semi_spaces, .value_lengths_bytes = {8, 40}},
          {.name = "walks",
           .geometry = semi_spaces,
           .value_lengths_bytes = {16},
           .collection = engine::Collection::walk_table,
           .stride = 5},
          {.name = "blocks", .geometry = blocks, .value_lengths_bytes = {8, 40, 24}}};
}

StoreOptions options_of(const World& world, std::uint64_t seed) {
  StoreOptions options;
  options.seed = seed;
  options.server.geometry = world.geometry;
  options.server.collection = world.collection;
  options.server.kept_memory = "store";
  options.server.heartbeat_timeout_ns = 5 * millisecond_ns;
  options.server.cleanup_percent = 1;
  options.server.cleanup_interval_ns = 2 * microsecond_ns;
  options.server.acknowledge_timeout_ns = 100 * microsecond_ns;
  options.server.retry_count = 1;
  options.server.measurement_interval_ns = 0;
  options.client.connect_timeout_ns = millisecond_ns;
  options.client.acknowledge_timeout_ns = 100 * microsecond_ns;
  options.client.retry_count = 1;
  options.simulation.step_limit = 1'000'000;
  return options;
}

// The values that the memory may have for a key: several after an operation without an answer.
class Reference {
 public:
  void on_answer(int key, Answer answer, const MaybeValue& next) {
    std::vector<MaybeValue>& possible = possible_[key];
    if (answer == Answer::stored || answer == Answer::deleted) {
      possible = {next};
    } else if (answer == Answer::not_found) {
      possible = {std::nullopt};
    } else if (answer == Answer::unknown_outcome) {
      possible.push_back(next);
    }
  }
  // A GET settles what an operation without an answer did.
  bool on_read(int key, const MaybeValue& found) {
    std::vector<MaybeValue>& possible = possible_[key];
    const bool is_possible = std::ranges::find(possible, found) != possible.end();
    possible = {found};
    return is_possible;
  }

 private:
  std::map<int, std::vector<MaybeValue>> possible_ = [] {
    std::map<int, std::vector<MaybeValue>> absent;
    for (int key = 0; key < key_count; ++key) absent[key] = {std::nullopt};
    return absent;
  }();
};

// The client executes its operations, connecting again whenever the server is gone. The server dies
// at these steps, counted from the start, or from the previous death.
class WarmRun {
 public:
  WarmRun(const World& world, const StoreOptions& options, std::vector<std::uint64_t> deaths,
          fabric::FiberStackPool& stacks)
      : world_(world), deaths_(std::move(deaths)), store_(options, stacks) {
    store_.add_host("client", [this](fabric::Host& host) { work(host); });
    store_.simulation().add_host({.name = "death"}, [this](fabric::Host& host) { kill(host); });
  }

  StoreRun run() {
    StoreRun run = store_.run();
    EXPECT_TRUE(run.problems.empty()) << describe(run);
    return run;
  }
  bool was_through() const { return was_through_; }

 private:
  struct Step {
    bool is_set;  // or DELETE
    int key;
  };

  static constexpr int operation_count = 18;

  void kill(fabric::Host& host) {
    for (const std::uint64_t steps : deaths_) {
      host.sleep_until(host.now_ns() + steps * step_ns);
      if (is_over_) was_through_ = true;
      if (is_over_) return;
      store_.simulation().crash("server");
      store_.simulation().restart("server");
    }
  }

  void work(fabric::Host& host) {
    connect(host);
    for (int operation = 0; operation < operation_count; ++operation) execute(host, operation);
    for (int key = 0; key < key_count; ++key) read(host, key);
    for (int key = 0; key < key_count; ++key) store_again(host, key);
    is_over_ = true;
    client_.reset();
  }

  void connect(fabric::Host& host) {
    client_.reset();
    while (client_ == nullptr) {
      auto connected = store_.connect(host);
      if (connected) client_ = std::move(*connected);
      if (!connected) host.sleep_until(host.now_ns() + 10 * microsecond_ns);
    }
  }

  // After a DELETE, the cleanup moves the keys behind. The next operation changes one of them.
  void execute(fabric::Host& host, int operation) {
    constexpr std::array<Step, 12> plan{{{true, 0},
                                         {true, 1},
                                         {true, 2},
                                         {true, 3},
                                         {false, 0},
                                         {false, 1},
                                         {true, 0},
                                         {false, 2},
                                         {true, 3},
                                         {false, 3},
                                         {true, 1},
                                         {true, 2}}};
    const Step& step = plan.at(static_cast<std::size_t>(operation) % plan.size());
    if (!step.is_set) return remove(host, step.key);
    const std::vector<std::size_t>& lengths = world_.value_lengths_bytes;
    const std::size_t length = lengths[static_cast<std::size_t>(operation) % lengths.size()];
    set(host, step.key, value_of(operation, length));
  }

  void set(fabric::Host& host, int key, const Bytes& value) {
    const Answer answer = client_->set(key_of(key), value).answer;
    reference_.on_answer(key, answer, value);
    go_on(host, answer);
  }

  void remove(fabric::Host& host, int key) {
    const Answer answer = client_->remove(key_of(key)).answer;
    reference_.on_answer(key, answer, std::nullopt);
    go_on(host, answer);
  }

  void go_on(fabric::Host& host, Answer answer) {
    if (answer == Answer::disconnected || answer == Answer::unknown_outcome) connect(host);
  }

  void read(fabric::Host& host, int key) {
    for (;;) {
      const engine::GetResult result = client_->get(key_of(key));
      go_on(host, result.answer);
      if (result.answer == Answer::disconnected) continue;
      const bool is_found = result.answer == Answer::found;
      store_.require(is_found || result.answer == Answer::not_found,
                     fmt::format("a GET answers {}", to_string(result.answer)));
      store_.require(reference_.on_read(key, is_found ? MaybeValue(result.value) : std::nullopt),
                     fmt::format("key {} has a value that it cannot have, or none", key));
      return;
    }
  }

  void store_again(fabric::Host& host, int key) {
    const Bytes value = value_of(1'000 + key, 8);
    for (Answer answer = Answer::disconnected; answer != Answer::stored;) {
      answer = client_->set(key_of(key), value).answer;
      go_on(host, answer);
      const bool is_refused = answer == Answer::out_of_memory || answer == Answer::table_full ||
                              answer == Answer::timed_out;
      store_.require(!is_refused, fmt::format("key {} cannot be stored again", key));
      if (is_refused) return;
    }
    store_.require(client_->get(key_of(key)).value == value || !client_->is_connected(),
                   fmt::format("key {} is not what was just stored", key));
  }

  const World& world_;
  std::vector<std::uint64_t> deaths_;
  TestStore store_;
  std::unique_ptr<Client> client_;
  Reference reference_;
  bool is_over_ = false;
  bool was_through_ = false;
};

using ProbeCounts = std::array<std::uint64_t, fabric::max_probes>;

void add(const StoreRun& run, ProbeCounts& counts) {
  std::transform(counts.begin(), counts.end(), run.result.probes.begin(), counts.begin(),
                 std::plus<>());
}

class WarmRestart : public testing::TestWithParam<World> {};

TEST_P(WarmRestart, LosesNothingWhereverTheServerDies) {
  fabric::FiberStackPool stacks;
  ProbeCounts counts{};
  bool was_through = false;
  for (std::uint64_t step = 0; !was_through && !HasFailure(); step += GetParam().stride) {
    SCOPED_TRACE(step);
    WarmRun run(GetParam(), options_of(GetParam(), step), {step}, stacks);
    add(run.run(), counts);
    was_through = run.was_through();
  }
  EXPECT_GT(counts[probes::recovery_met_lock.index], 0U);
  EXPECT_GT(counts[probes::recovery_met_moved_entry.index], 0U);
  EXPECT_GT(counts[probes::recovery_collected_region.index], 0U);
  if (GetParam().geometry.has_blocks()) return;
  EXPECT_GT(counts[probes::recovery_met_two_spaces.index], 0U);
}

// The server dies, and its next processes die while they start.
TEST_P(WarmRestart, LosesNothingWhereverStartsDie) {
  constexpr std::uint64_t runs = 100;
  constexpr std::uint64_t longest_life_steps = 700;
  fabric::FiberStackPool stacks;
  fabric::RandomGenerator random(1);
  for (std::uint64_t seed = 0; seed < runs && !HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    StoreOptions options = options_of(GetParam(), seed);
    options.simulation.processor_preemption = true;
    const std::uint64_t first = random.below(longest_life_steps);
    const std::uint64_t second = random.below(80);
    const std::uint64_t third = random.below(80);
    WarmRun(GetParam(), options, {first, second, third}, stacks).run();
  }
}

INSTANTIATE_TEST_SUITE_P(Worlds, WarmRestart, testing::ValuesIn(worlds()),
                         [](const auto& world) { return world.param.name; });

}  // namespace
}  // namespace falafel::engine_test
