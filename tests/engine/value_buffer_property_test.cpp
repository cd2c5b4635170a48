// Random operations of one client against a map, with GETs into a buffer and others mixed, while
// connections break and the server restarts over its memory. The client connects again, and goes on
// with its buffer. When a GET has returned, nothing writes to the buffer any more, whatever it
// answered, and no GET writes beside its part.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "engine/client/value_buffer.h"
#include "fabric/at_end.h"
#include "fabric/random.h"
#include "tests/engine/schedules.h"
#include "tests/engine/store.h"

namespace falafel::engine_test {
namespace {

using engine::GetResult;
using engine::ValueBuffer;
using MaybeValue = std::optional<Bytes>;

constexpr std::uint64_t buffer_bytes = 1'024;
constexpr std::byte untouched{0xee};

// Regions of a few containers, so that the server moves containers all the time.
StoreOptions options_of(std::uint64_t seed) {
  StoreOptions options;
  options.seed = seed;
  options.server.geometry = {
      .table_entries = 8, .region_bytes = 512, .region_count = 8, .mature_bytes = 1 << 14};
  options.server.geometry.values_expire = seed % 3 == 0;
  options.server.kept_memory = "store";
  options.server.heartbeat_timeout_ns = 5 * millisecond_ns;
  options.server.cleanup_percent = 1;
  options.server.acknowledge_timeout_ns = 100 * microsecond_ns;
  options.server.retry_count = 1;
  options.server.measurement_interval_ns = 0;
  options.client.connect_timeout_ns = millisecond_ns;
  options.client.acknowledge_timeout_ns = 100 * microsecond_ns;
  options.client.retry_count = 1;
  options.client.readahead.container_bytes = seed % 2 == 0 ? 64 : 256;
  options.client.location_cache.entries = seed % 4 < 2 ? 0 : 16;
  options.simulation.step_limit = 10'000'000;
  return options;
}

struct Counts {
  std::uint64_t placed = 0;
  std::uint64_t did_not_fit = 0;
  std::uint64_t disconnected = 0;  // GETs into the buffer
};

class BufferRun {
 public:
  BufferRun(std::uint64_t seed, Counts& counts, fabric::FiberStackPool& stacks)
      : random_(seed), counts_(counts), store_(options_of(seed), stacks) {
    store_.add_host("client", [this](fabric::Host& host) { work(host); });
    store_.simulation().add_host({.name = "harm"}, [this](fabric::Host& host) { do_harm(host); });
  }

  void run() { run_without_problems(store_); }

 private:
  static constexpr int operation_count = 60;
  static constexpr std::uint64_t key_count = 6;

  void do_harm(fabric::Host& host) {
    fabric::RandomGenerator random = random_;
    while (!is_over_) {
      host.sleep_until(host.now_ns() + random.below(400 * microsecond_ns));
      if (is_over_) return;
      if (random.below(2) == 0) {
        store_.simulation().break_connection("client");
      } else {
        store_.simulation().crash("server");
        store_.simulation().restart("server");
      }
    }
  }

  void work(fabric::Host& host) {
    const fabric::AtEnd end([this] { is_over_ = true; });
    connect(host);
    buffer_ = client_->allocate_buffer(buffer_bytes).value();
    for (int operation = 0; operation < operation_count; ++operation) {
      const Bytes key = bytes_of(fmt::format("key {}", random_.below(key_count)));
      switch (random_.below(6)) {
        case 0: change(host, key, std::nullopt); break;
        case 1:
        case 2:
          change(host, key, Bytes(random_.below(400), static_cast<std::byte>(operation)));
          break;
        case 3: judge(host, key, client_->get(key)); break;
        default: get_into_buffer(host, key); break;
      }
    }
    buffer_.reset();
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

  // nullopt: DELETE
  void change(fabric::Host& host, const Bytes& key, const MaybeValue& value) {
    const Answer answer = value ? client_->set(key, *value).answer : client_->remove(key).answer;
    std::vector<MaybeValue>& possible = possible_of(key);
    switch (answer) {
      case Answer::stored:
      case Answer::deleted: possible = {value}; break;
      case Answer::not_found: settle(key, std::nullopt); break;
      case Answer::unknown_outcome: possible.push_back(value); break;
      case Answer::disconnected: break;
      default: store_.require(false, fmt::format("a change answers {}", to_string(answer)));
    }
    if (!client_->is_connected()) connect(host);
  }

  void get_into_buffer(fabric::Host& host, const Bytes& key) {
    std::ranges::fill(buffer_->bytes(), untouched);
    const std::uint64_t offset = random_.below(100);
    const std::uint64_t length_bytes = random_.below(buffer_bytes - offset) + 1;
    const ValueBuffer part = buffer_->part(offset, length_bytes);
    GetResult result = client_->get(key, part);
    const Bytes now(buffer_->bytes().begin(), buffer_->bytes().end());
    for (std::uint64_t position = 0; position < buffer_bytes; ++position) {
      const bool is_inside = position >= offset && position < offset + length_bytes;
      store_.require(is_inside || now[position] == untouched, "a GET writes beside its part");
    }
    if (result.answer == Answer::disconnected) ++counts_.disconnected;
    if (result.place) {
      ++counts_.placed;
      store_.require(result.value.empty(), "a value is in two places");
      const auto value = part.value_at(*result.place);
      result.value.assign(value.begin(), value.end());
    } else if (result.answer == Answer::found) {
      ++counts_.did_not_fit;
      store_.require(ValueBuffer::bytes_for(key.size(), result.value.size()) > length_bytes,
                     "a value is not in the buffer although it fits");
    }
    judge(host, key, result);
    host.sleep_until(host.now_ns() + random_.below(20 * microsecond_ns));
    store_.require(std::ranges::equal(buffer_->bytes(), now), "a GET that has ended writes");
  }

  void judge(fabric::Host& host, const Bytes& key, const GetResult& result) {
    const bool is_found = result.answer == Answer::found;
    if (is_found || result.answer == Answer::not_found) {
      settle(key, is_found ? MaybeValue(result.value) : std::nullopt);
    } else {
      store_.require(result.answer == Answer::disconnected,
                     fmt::format("a GET answers {}", to_string(result.answer)));
    }
    if (!client_->is_connected()) connect(host);
  }

  std::vector<MaybeValue>& possible_of(const Bytes& key) {
    return possible_.try_emplace(key, std::vector<MaybeValue>{std::nullopt}).first->second;
  }

  void settle(const Bytes& key, const MaybeValue& seen) {
    std::vector<MaybeValue>& possible = possible_of(key);
    store_.require(std::ranges::find(possible, seen) != possible.end(),
                   "a key has a value that it cannot have, or none");
    possible = {seen};
  }

  fabric::RandomGenerator random_;
  Counts& counts_;
  TestStore store_;
  std::unique_ptr<Client> client_;
  std::optional<ValueBuffer> buffer_;
  std::map<Bytes, std::vector<MaybeValue>> possible_;  // several after an unknown outcome
  bool is_over_ = false;
};

TEST(ValueBufferProperty, AClientWithABufferSeesAMap) {
  Counts counts;
  for_each_seed(300, [&](std::uint64_t seed, fabric::FiberStackPool& stacks) {
    BufferRun(seed, counts, stacks).run();
  });
  EXPECT_GT(counts.placed, 1'000U);
  EXPECT_GT(counts.did_not_fit, 200U);
  EXPECT_GT(counts.disconnected, 50U);
}

}  // namespace
}  // namespace falafel::engine_test
