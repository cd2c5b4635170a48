// GETs into buffers of the caller: they find what other GETs find, say where it lies, and write
// nowhere else.
#include "engine/client/value_buffer.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/layout/container.h"
#include "tests/engine/planted.h"
#include "tests/engine/schedules.h"
#include "tests/engine/store.h"

namespace falafel::engine_test {
namespace {

using engine::GetResult;
using engine::ValueBuffer;

constexpr std::byte untouched{0xee};
constexpr std::uint64_t margin_bytes = 16;

StoreOptions options_of_buffers() {
  StoreOptions options;
  options.server.geometry.region_bytes = 1 << 16;
  options.server.geometry.mature_bytes = 1 << 18;
  return options;
}

void run_with_buffers(const StoreOptions& options, const ClientBody& body) {
  fabric::FiberStackPool stacks;
  TestStore store(options, stacks);
  store.add_client(body);
  run_without_problems(store);
}

ValueBuffer allocate(Client& client, std::uint64_t size_bytes) {
  auto buffer = client.allocate_buffer(size_bytes);
  EXPECT_TRUE(buffer.has_value()) << buffer.error().detail;
  std::ranges::fill(buffer->bytes(), untouched);
  return std::move(*buffer);
}

bool is_untouched(std::span<const std::byte> bytes) {
  return std::ranges::all_of(bytes, [](std::byte byte) { return byte == untouched; });
}

Bytes value_of_length(std::size_t length_bytes) {
  Bytes value(length_bytes);
  for (std::size_t index = 0; index < value.size(); ++index) {
    value[index] = static_cast<std::byte>(index % 251);
  }
  return value;
}

Bytes copy_of(std::span<const std::byte> bytes) { return {bytes.begin(), bytes.end()}; }

// GETs the key into the middle of a buffer.
void expect_value(Client& client, const Bytes& key, const Bytes& value, std::uint64_t room_bytes) {
  SCOPED_TRACE(fmt::format("a value of {} bytes in {}", value.size(), room_bytes));
  const ValueBuffer whole = allocate(client, room_bytes + 2 * margin_bytes);
  const ValueBuffer part = whole.part(margin_bytes, room_bytes);
  const GetResult result = client.get(key, part);
  EXPECT_EQ(result.answer, Answer::found);
  EXPECT_TRUE(is_untouched(whole.bytes().first(margin_bytes)));
  EXPECT_TRUE(is_untouched(whole.bytes().last(margin_bytes)));
  const bool fits = engine::container_bytes(key.size(), value.size()) <= room_bytes;
  EXPECT_EQ(result.place.has_value(), fits);
  if (result.place) {
    EXPECT_EQ(copy_of(part.value_at(*result.place)), value);
  }
  EXPECT_EQ(result.value, fits ? Bytes() : value);
}

// The read-ahead is shorter than some containers, and longer than others.
TEST(ValueBuffer, TakesValuesOfAnyLengthThatFit) {
  run_with_buffers(options_of_buffers(), [](fabric::Host&, Client& client) {
    const Bytes key = bytes_of("key");
    const std::uint64_t overhead_bytes = engine::container_bytes(key.size(), 0);
    for (const std::size_t length_bytes : {0U, 1U, 64U, 480U, 500U, 5'000U}) {
      const Bytes value = value_of_length(length_bytes);
      EXPECT_EQ(client.set(key, value).answer, Answer::stored);
      for (const std::uint64_t more_bytes : {0U, 1U, 600U}) {
        expect_value(client, key, value, overhead_bytes + length_bytes + more_bytes);
      }
      expect_value(client, key, value, overhead_bytes + length_bytes - 1);
      expect_value(client, key, value, 1);
    }
    const ValueBuffer buffer = allocate(client, 1'000);
    EXPECT_EQ(client.get(bytes_of("other"), buffer).answer, Answer::not_found);
    EXPECT_EQ(client.get({}, buffer).answer, Answer::invalid_key);
  });
}

TEST(ValueBuffer, NeedsAsMuchAsItSays) {
  StoreOptions options = options_of_buffers();
  options.server.geometry.values_expire = true;
  run_with_buffers(options, [](fabric::Host&, Client& client) {
    const Bytes key = bytes_of("key");
    const Bytes value = value_of_length(1'000);
    EXPECT_EQ(client.set(key, value).answer, Answer::stored);
    const std::uint64_t needed_bytes = ValueBuffer::bytes_for(key.size(), value.size());
    const ValueBuffer buffer = allocate(client, needed_bytes);
    const GetResult result = client.get(key, buffer);
    ASSERT_TRUE(result.place.has_value());
    EXPECT_EQ(copy_of(buffer.value_at(*result.place)), value);
    EXPECT_FALSE(client.get(key, buffer.part(0, needed_bytes - 1)).place.has_value());
  });
}

TEST(ValueBuffer, TellsWhenAValueOfACacheExpires) {
  StoreOptions options = options_of_buffers();
  options.server.geometry.values_expire = true;
  run_with_buffers(options, [](fabric::Host& host, Client& client) {
    const Bytes key = bytes_of("key");
    const Bytes value = value_of_length(700);
    EXPECT_EQ(client.set(key, value, millisecond_ns).answer, Answer::stored);
    const ValueBuffer buffer = allocate(client, 2'000);
    const GetResult result = client.get(key, buffer);
    ASSERT_TRUE(result.place.has_value());
    EXPECT_EQ(copy_of(buffer.value_at(*result.place)), value);
    EXPECT_EQ(result.expires_ns, client.get(key).expires_ns);
    EXPECT_GT(result.expires_ns, 0U);
    host.sleep_until(host.now_ns() + 2 * millisecond_ns);
    EXPECT_EQ(client.get(key, buffer).answer, Answer::not_found);
  });
}

// The client reads the containers of a chain together, and only the first goes into the buffer.
TEST(ValueBuffer, TakesTheContainerOfTheKeyOutOfSeveral) {
  for (const std::size_t length_bytes : {10U, 2'000U}) {
    run_with_buffers(options_of_buffers(), [&](fabric::Host&, Client& client) {
      const std::uint64_t table_entries = options_of_buffers().server.geometry.table_entries;
      std::vector<Bytes> values;
      for (int number = 0; number < 5; ++number) {
        values.push_back(value_of_length(length_bytes + static_cast<std::size_t>(number)));
        const Bytes key = key_at(3, number, table_entries);
        EXPECT_EQ(client.set(key, values.back()).answer, Answer::stored);
      }
      for (int number = 0; number < 5; ++number) {
        const Bytes& value = values[static_cast<std::size_t>(number)];
        expect_value(client, key_at(3, number, table_entries), value, 4'000);
        expect_value(client, key_at(3, number, table_entries), value, 50);
      }
    });
  }
}

TEST(ValueBuffer, TakesValuesWhoseLocationIsKnown) {
  StoreOptions options = options_of_buffers();
  options.client.location_cache.entries = 10;
  run_with_buffers(options, [](fabric::Host&, Client& client) {
    const Bytes key = bytes_of("key");
    for (const std::size_t length_bytes : {10U, 3'000U}) {
      const Bytes value = value_of_length(length_bytes);
      EXPECT_EQ(client.set(key, value).answer, Answer::stored);
      client.get(key);
      expect_value(client, key, value, 5'000);
      expect_value(client, key, value, 40);
      const GetResult result = client.get(key, allocate(client, 5'000));
      EXPECT_EQ(result.statistics.round_trips, 1U);
      EXPECT_EQ(result.statistics.cached_locations, 1U);
    }
  });
}

TEST(ValueBuffer, CostsTheRequestsOfAnyGet) {
  run_with_buffers(options_of_buffers(), [](fabric::Host&, Client& client) {
    const Bytes key = bytes_of("key");
    const ValueBuffer buffer = allocate(client, 10'000);
    for (const std::size_t length_bytes : {10U, 3'000U}) {
      EXPECT_EQ(client.set(key, value_of_length(length_bytes)).answer, Answer::stored);
      const auto usual = client.get(key).statistics;
      const auto into_buffer = client.get(key, buffer).statistics;
      EXPECT_EQ(into_buffer.verbs, usual.verbs);
      EXPECT_EQ(into_buffer.bytes, usual.bytes);
      EXPECT_EQ(into_buffer.round_trips, usual.round_trips);
    }
  });
}

TEST(ValueBuffer, TakesAValueOfEachKeyOfABatch) {
  for_each_seed(10, [](std::uint64_t seed, fabric::FiberStackPool& stacks) {
    StoreOptions options = options_of_buffers();
    options.seed = seed;
    TestStore store(options, stacks);
    store.add_client([](fabric::Host&, Client& client) {
      constexpr std::size_t count = 20;
      constexpr std::uint64_t part_bytes = 1'000;
      const ValueBuffer whole = allocate(client, count * part_bytes);
      std::vector<Bytes> keys;
      std::vector<ValueBuffer> parts;
      for (std::size_t index = 0; index < count; ++index) {
        keys.push_back(bytes_of(fmt::format("key {}", index)));
        parts.push_back(whole.part(index * part_bytes, part_bytes));
        if (index > 0) client.set(keys.back(), value_of_length(40 * index));
      }
      const std::vector<std::span<const std::byte>> spans(keys.begin(), keys.end());
      const std::vector<GetResult> results = client.get_many(spans, parts);
      EXPECT_EQ(results.front().answer, Answer::not_found);
      for (std::size_t index = 1; index < count; ++index) {
        ASSERT_TRUE(results[index].place.has_value()) << index;
        EXPECT_EQ(copy_of(parts[index].value_at(*results[index].place)),
                  value_of_length(40 * index));
      }
    });
    run_without_problems(store);
  });
}

// The slot of an operation serves many operations.
TEST(ValueBuffer, IsUntouchedByTheNextOperations) {
  run_with_buffers(options_of_buffers(), [](fabric::Host&, Client& client) {
    const Bytes key = bytes_of("key");
    const ValueBuffer buffer = allocate(client, 5'000);
    for (const std::size_t length_bytes : {10U, 3'000U}) {
      EXPECT_EQ(client.set(key, value_of_length(length_bytes)).answer, Answer::stored);
      EXPECT_EQ(client.get(key, buffer).answer, Answer::found);
      std::ranges::fill(buffer.bytes(), untouched);
      EXPECT_EQ(client.get(key).value, value_of_length(length_bytes));
      EXPECT_EQ(client.set(key, value_of_length(length_bytes)).answer, Answer::stored);
      EXPECT_EQ(client.remove(key).answer, Answer::deleted);
      EXPECT_TRUE(is_untouched(buffer.bytes()));
    }
  });
}

std::size_t free_registrations(Client& client) {
  std::vector<ValueBuffer> buffers;
  for (auto buffer = client.allocate_buffer(8); buffer; buffer = client.allocate_buffer(8)) {
    buffers.push_back(*buffer);
  }
  return buffers.size();
}

// A READ that is still in flight needs the memory and its registration. Others go on.
TEST(ValueBuffer, OutlivesACancelledGet) {
  fabric::FiberStackPool stacks;
  std::uint64_t kept = 0;
  for (std::uint64_t steps = 0; steps < 60; ++steps) {
    SCOPED_TRACE(steps);
    StoreOptions options = options_of_buffers();
    options.seed = steps;
    options.client_max_registrations = 12;
    TestStore store(options, stacks);
    store.add_client([&](fabric::Host& host, Client& client) {
      const Bytes key = bytes_of("key");
      EXPECT_EQ(client.set(key, value_of_length(2'000)).answer, Answer::stored);
      const std::size_t free_before = free_registrations(client);
      bool has_ended = false;
      const fabric::FiberId cancelled = host.spawn({.name = "cancelled"}, [&] {
        client.get(key, allocate(client, 3'000));
        has_ended = true;
      });
      host.sleep_until(host.now_ns() + steps * options.simulation.step_duration_ns);
      host.cancel(cancelled);
      host.join(cancelled);
      const std::size_t still_kept = free_before - free_registrations(client);
      EXPECT_LE(still_kept, has_ended ? 0U : 1U);
      kept += still_kept;
      EXPECT_EQ(client.get(key).answer, Answer::found);
      EXPECT_TRUE(client.is_connected());
    });
    run_without_problems(store);
  }
  EXPECT_GT(kept, 10U);
}

TEST(ValueBuffer, ServesTheNextClientOfItsHost) {
  fabric::FiberStackPool stacks;
  TestStore store(options_of_buffers(), stacks);
  const Bytes key = bytes_of("key");
  store.add_host("client", [&](fabric::Host& host) {
    std::optional<ValueBuffer> buffer;
    for (const std::size_t length_bytes : {100U, 2'000U, 0U}) {
      const auto client = store.connect(host);
      ASSERT_TRUE(client.has_value()) << client.error().detail;
      if (!buffer) buffer = allocate(**client, 3'000);
      const Bytes value = value_of_length(length_bytes);
      EXPECT_EQ((*client)->set(key, value).answer, Answer::stored);
      const GetResult result = (*client)->get(key, *buffer);
      ASSERT_TRUE(result.place.has_value());
      EXPECT_EQ(copy_of(buffer->value_at(*result.place)), value);
      (*client)->disconnect();
    }
  });
  run_without_problems(store);
}

// Two clients of a host that has no registration left. The buffers of one cannot serve the other.
TEST(ValueBuffer, NeedsARegistrationForItsConnection) {
  StoreOptions options = options_of_buffers();
  options.client_max_registrations = 12;
  fabric::FiberStackPool stacks;
  TestStore store(options, stacks);
  store.add_host("client", [&](fabric::Host& host) {
    const auto first = store.connect(host).value();
    const auto second = store.connect(host).value();
    const Bytes key = bytes_of("key");
    EXPECT_EQ(first->set(key, bytes_of("value")).answer, Answer::stored);
    std::vector<ValueBuffer> buffers;
    auto buffer = first->allocate_buffer(1'000);
    for (; buffer; buffer = first->allocate_buffer(1'000)) buffers.push_back(*buffer);
    EXPECT_EQ(buffer.error().code, fabric::ErrorCode::out_of_memory);
    ASSERT_GT(buffers.size(), 1U);
    EXPECT_EQ(first->get(key, buffers.front()).answer, Answer::found);
    EXPECT_EQ(second->get(key, buffers.front()).answer, Answer::out_of_memory);
    buffers.pop_back();
    EXPECT_EQ(second->get(key, buffers.front()).answer, Answer::found);
    EXPECT_EQ(first->allocate_buffer(0).error().code, fabric::ErrorCode::invalid_argument);
  });
  run_without_problems(store);
}

TEST(ValueBuffer, KnowsOfOtherHandles) {
  run_with_buffers(options_of_buffers(), [](fabric::Host&, Client& client) {
    const ValueBuffer whole = allocate(client, 100);
    EXPECT_FALSE(whole.is_shared());
    {
      const ValueBuffer part = whole.part(10, 20).part(5, 10);
      EXPECT_TRUE(whole.is_shared());
      EXPECT_EQ(part.size_bytes(), 10U);
      EXPECT_EQ(part.bytes().data(), whole.bytes().data() + 15);
    }
    EXPECT_FALSE(whole.is_shared());
  });
}

}  // namespace
}  // namespace falafel::engine_test
