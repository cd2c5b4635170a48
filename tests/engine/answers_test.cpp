// Answers at the limits: a full table, full memory, and keys and values of extreme sizes. A refused
// operation changes nothing, and operations succeed again when the cause is removed.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <span>
#include <vector>

#include "engine/layout/container.h"
#include "tests/engine/planted.h"
#include "tests/engine/store.h"

namespace falafel::engine_test {
namespace {

Bytes numbered_key(int number) { return bytes_of(fmt::format("key {}", number)); }

StoreRun run_one_client(const StoreOptions& options, const ClientBody& body) {
  fabric::FiberStackPool stacks;
  TestStore store(options, stacks);
  store.add_client(body);
  StoreRun run = store.run();
  EXPECT_TRUE(run.problems.empty()) << describe(run);
  return run;
}

// Repeats the SET until the answer changes, up to a long limit.
Answer set_patiently(fabric::Host& host, Client& client, const Bytes& key, const Bytes& value,
                     Answer refusal) {
  constexpr int attempts = 100;
  Answer answer = refusal;
  for (int attempt = 0; attempt < attempts && answer == refusal; ++attempt) {
    host.sleep_until(host.now_ns() + millisecond_ns);
    answer = client.set(key, value).answer;
  }
  return answer;
}

// Full table and memory

constexpr int few_entries = 4;

StoreOptions options_of_few_entries() {
  StoreOptions options;
  options.server.geometry.table_entries = few_entries;
  options.server.cleanup_interval_ns = millisecond_ns;
  return options;
}

void fill_table(Client& client) {
  for (int number = 0; number < few_entries; ++number) {
    ASSERT_EQ(client.set(numbered_key(number), bytes_of("old")).answer, Answer::stored) << number;
  }
  ASSERT_EQ(client.set(numbered_key(few_entries), bytes_of("new")).answer, Answer::table_full);
}

TEST(TableFull, RefusesNewKeysOnly) {
  const StoreRun run = run_one_client(options_of_few_entries(), [](fabric::Host&, Client& client) {
    fill_table(client);
    EXPECT_EQ(client.get(numbered_key(few_entries)).answer, Answer::not_found);
    EXPECT_EQ(client.remove(numbered_key(few_entries)).answer, Answer::not_found);
    EXPECT_EQ(client.set(numbered_key(2), bytes_of("changed")).answer, Answer::stored);
    EXPECT_EQ(client.get(numbered_key(2)).value, bytes_of("changed"));
    EXPECT_EQ(client.get(numbered_key(3)).value, bytes_of("old"));
  });
  EXPECT_EQ(run.state.contents.size(), static_cast<std::size_t>(few_entries));
}

TEST(TableFull, EndsWithADeleteAndACleanup) {
  const StoreRun run =
      run_one_client(options_of_few_entries(), [](fabric::Host& host, Client& client) {
        fill_table(client);
        EXPECT_EQ(client.remove(numbered_key(1)).answer, Answer::deleted);
        EXPECT_EQ(set_patiently(host, client, numbered_key(few_entries), bytes_of("new"),
                                Answer::table_full),
                  Answer::stored);
        EXPECT_EQ(client.set(numbered_key(1), bytes_of("again")).answer, Answer::table_full);
      });
  EXPECT_EQ(run.state.contents.size(), static_cast<std::size_t>(few_entries));
  EXPECT_EQ(run.state.contents.at(numbered_key(few_entries)), bytes_of("new"));
  EXPECT_GT(run.inspection.statistics.entries_cleaned, 0U);
}

// A client requests a cleanup instead of waiting for the deletion threshold or the next audit.
TEST(TableFull, AsksForTheCleanupThatMakesASlot) {
  StoreOptions options = options_of_few_entries();
  options.server.cleanup_percent = 100;
  options.server.cleanup_interval_ns = 3'600 * second_ns;
  const StoreRun run = run_one_client(options, [](fabric::Host& host, Client& client) {
    fill_table(client);
    EXPECT_EQ(client.set(numbered_key(few_entries), bytes_of("new")).answer, Answer::table_full);
    EXPECT_EQ(client.remove(numbered_key(1)).answer, Answer::deleted);
    const std::uint64_t start_ns = host.now_ns();
    EXPECT_EQ(client.set(numbered_key(few_entries), bytes_of("new")).answer, Answer::stored);
    EXPECT_LT(host.now_ns() - start_ns, millisecond_ns);
    EXPECT_EQ(client.get(numbered_key(few_entries)).value, bytes_of("new"));
  });
  EXPECT_EQ(run.inspection.statistics.cleanups, 1U);
}

TEST(TableFull, IsAnsweredInTimeByAServerThatDoesNotCleanUp) {
  StoreOptions options = options_of_few_entries();
  options.client.server_timeout_ns = 5 * millisecond_ns;
  options.server.cleanup_percent = 100;
  fabric::FiberStackPool stacks;
  TestStore store(options, stacks);
  store.add_client([&](fabric::Host& host, Client& client) {
    fill_table(client);
    EXPECT_EQ(client.remove(numbered_key(1)).answer, Answer::deleted);
    store.simulation().pause("server", 20 * millisecond_ns);
    const std::uint64_t start_ns = host.now_ns();
    EXPECT_EQ(client.set(numbered_key(few_entries), {}).answer, Answer::timed_out);
    EXPECT_LT(host.now_ns() - start_ns, 6 * millisecond_ns);
    EXPECT_EQ(client.get(numbered_key(few_entries)).answer, Answer::not_found);
  });
  const StoreRun run = store.run();
  EXPECT_TRUE(run.problems.empty()) << describe(run);
}

// Several fibers wait for the same cleanup or for the one after it.
TEST(TableFull, ServesAllWhoAskForACleanup) {
  fabric::FiberStackPool stacks;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(seed);
    StoreOptions options = options_of_few_entries();
    options.seed = seed;
    options.server.cleanup_percent = 100;
    options.server.cleanup_interval_ns = 3'600 * second_ns;
    TestStore store(options, stacks);
    store.add_client([&](fabric::Host& host, Client& client) {
      fill_table(client);
      for (int number = 0; number < few_entries; ++number) client.remove(numbered_key(number));
      std::vector<fabric::FiberId> fibers;
      for (int number = 0; number < few_entries; ++number) {
        fibers.push_back(host.spawn({.name = "setter"}, [&client, number] {
          const Bytes key = numbered_key(10 + number);
          EXPECT_EQ(client.set(key, bytes_of("new")).answer, Answer::stored);
        }));
      }
      for (const fabric::FiberId fiber : fibers) host.join(fiber);
    });
    const StoreRun run = store.run();
    EXPECT_TRUE(run.problems.empty()) << describe(run);
    EXPECT_EQ(run.state.contents.size(), static_cast<std::size_t>(few_entries));
  }
}

// Three keys of four are there. One is deleted before a fourth fills the last slot; so a cleanup
// can always make room for the fifth, however its SET goes over the table meanwhile: key by key,
// once it saw one overwritten.
TEST(TableFull, IsNotAnsweredWhileADeletedKeyCanMakeRoom) {
  constexpr std::uint64_t schedules = 600;
  constexpr std::uint64_t pauses = 32;
  constexpr std::uint64_t pause_ns = 100;  // a round trip takes a few of them
  const auto key = [](std::uint64_t slot, int number = 0) {
    return key_at(slot, number, few_entries);
  };
  fabric::FiberStackPool stacks;
  for (std::uint64_t seed = 0; seed < schedules; ++seed) {
    SCOPED_TRACE(seed);
    StoreOptions options = options_of_few_entries();
    options.seed = seed;
    options.server.cleanup_percent = 100;
    options.server.cleanup_interval_ns = 3'600 * second_ns;
    options.client.readahead.chunk_entries = 1;
    TestStore store(options, stacks);
    store.add_client([&](fabric::Host& host, Client& client) {
      for (std::uint64_t slot = 0; slot < 3; ++slot) client.set(key(slot), bytes_of("old"));
      const fabric::FiberId other = host.spawn({.name = "other"}, [&] {
        host.sleep_until(host.now_ns() + seed % pauses * pause_ns);
        EXPECT_EQ(client.set(key(1), bytes_of("changed")).answer, Answer::stored);
        host.sleep_until(host.now_ns() + seed / pauses * pause_ns);
        EXPECT_EQ(client.remove(key(0)).answer, Answer::deleted);
        EXPECT_EQ(client.set(key(3), bytes_of("new")).answer, Answer::stored);
      });
      EXPECT_EQ(client.set(key(0, 1), bytes_of("new")).answer, Answer::stored);
      host.join(other);
    });
    const StoreRun run = store.run();
    EXPECT_TRUE(run.problems.empty()) << describe(run);
    EXPECT_EQ(run.state.contents.size(), static_cast<std::size_t>(few_entries));
  }
}

TEST(TableFull, OfDeletedKeysOnlyBecomesEmpty) {
  const StoreRun run =
      run_one_client(options_of_few_entries(), [](fabric::Host& host, Client& client) {
        fill_table(client);
        for (int number = 0; number < few_entries; ++number) {
          EXPECT_EQ(client.remove(numbered_key(number)).answer, Answer::deleted);
        }
        for (int number = 10; number < 10 + few_entries; ++number) {
          EXPECT_EQ(set_patiently(host, client, numbered_key(number), {}, Answer::table_full),
                    Answer::stored);
        }
      });
  EXPECT_EQ(run.state.contents.size(), static_cast<std::size_t>(few_entries));
}

TEST(TableFull, ADeletedKeyMayComeBackWithoutACleanup) {
  StoreOptions options = options_of_few_entries();
  options.server.cleanup_percent = 100;
  const StoreRun run = run_one_client(options, [](fabric::Host&, Client& client) {
    fill_table(client);
    EXPECT_EQ(client.remove(numbered_key(1)).answer, Answer::deleted);
    EXPECT_EQ(client.set(numbered_key(1), bytes_of("again")).answer, Answer::stored);
    EXPECT_EQ(client.get(numbered_key(1)).value, bytes_of("again"));
  });
  EXPECT_EQ(run.inspection.statistics.cleanups, 0U);
}

StoreOptions options_of_little_memory() {
  StoreOptions options;
  options.server.geometry = {
      .table_entries = 64, .region_bytes = 1'024, .region_count = 4, .mature_bytes = 4'096};
  options.server.cleanup_interval_ns = millisecond_ns;
  return options;
}

// Returns the number of keys that fit.
int fill_memory(Client& client, const Bytes& value) {
  int count = 0;
  Answer answer = Answer::stored;
  while (answer == Answer::stored && count < 64) {
    answer = client.set(numbered_key(count), value).answer;
    if (answer == Answer::stored) ++count;
  }
  EXPECT_EQ(answer, Answer::out_of_memory);
  return count;
}

TEST(OutOfMemory, LeavesTheStoreAsItWas) {
  const Bytes value(400, std::byte{3});
  int fitted = 0;
  const StoreRun run =
      run_one_client(options_of_little_memory(), [&](fabric::Host&, Client& client) {
        fitted = fill_memory(client, value);
        EXPECT_EQ(client.get(numbered_key(fitted)).answer, Answer::not_found);
        for (int number = 0; number < fitted; ++number) {
          EXPECT_EQ(client.get(numbered_key(number)).value, value) << number;
        }
      });
  EXPECT_EQ(run.state.contents.size(), static_cast<std::size_t>(fitted));
  EXPECT_GT(fitted, 3) << "the memory was hardly used";
}

TEST(OutOfMemory, EndsWhenKeysAreDeleted) {
  const Bytes value(400, std::byte{3});
  run_one_client(options_of_little_memory(), [&](fabric::Host& host, Client& client) {
    for (int round = 0; round < 3; ++round) {
      const int fitted = fill_memory(client, value);
      EXPECT_GT(fitted, 3) << "round " << round;
      for (int number = 0; number < fitted; ++number) {
        EXPECT_EQ(client.remove(numbered_key(number)).answer, Answer::deleted) << number;
      }
      EXPECT_EQ(set_patiently(host, client, numbered_key(0), value, Answer::out_of_memory),
                Answer::stored)
          << "round " << round;
      EXPECT_EQ(client.remove(numbered_key(0)).answer, Answer::deleted);
      host.sleep_until(host.now_ns() + 100 * millisecond_ns);
    }
  });
}

TEST(OutOfMemory, EndsWhenKeysBecomeSmaller) {
  const Bytes value(400, std::byte{3});
  run_one_client(options_of_little_memory(), [&](fabric::Host& host, Client& client) {
    const int fitted = fill_memory(client, value);
    for (int number = 0; number + 1 < fitted; ++number) client.remove(numbered_key(number));
    EXPECT_EQ(set_patiently(host, client, numbered_key(fitted), value, Answer::out_of_memory),
              Answer::stored);
    EXPECT_EQ(client.get(numbered_key(fitted - 1)).value, value);
  });
}

enum class Progress { refused, without_region, stored };

// How far a client gets if the server can register only this much memory.
Progress progress_with(std::size_t max_registrations) {
  fabric::FiberStackPool stacks;
  StoreOptions options = options_of_little_memory();
  options.server_max_registrations = max_registrations;
  TestStore store(options, stacks);
  Progress progress = Progress::refused;
  store.add_host("client", [&](fabric::Host& host) {
    const auto client = store.connect(host);
    if (!client) {
      EXPECT_EQ(client.error().code, fabric::ErrorCode::connection_refused);
      EXPECT_NE(client.error().detail.find("out of memory"), std::string::npos);
      return;
    }
    const Answer answer = (*client)->set(numbered_key(0), bytes_of("value")).answer;
    if (answer == Answer::stored) progress = Progress::stored;
    if (answer == Answer::out_of_memory) progress = Progress::without_region;
    EXPECT_EQ((*client)->get(numbered_key(0)).answer,
              answer == Answer::stored ? Answer::found : Answer::not_found);
  });
  const StoreRun run = store.run();
  EXPECT_TRUE(run.problems.empty()) << describe(run);
  return progress;
}

// The system may limit the amount of memory that devices can access.
TEST(OutOfMemory, IsAnsweredWhereTheServerCanRegisterNoMore) {
  // The table, results of two updaters, the chunk, and results of READs.
  constexpr std::size_t for_the_server = 5;
  constexpr std::size_t for_a_client = 3;  // messages, chunk, table; regions follow
  EXPECT_EQ(progress_with(for_the_server + for_a_client - 1), Progress::refused);
  EXPECT_EQ(progress_with(for_the_server + for_a_client), Progress::without_region);
  EXPECT_EQ(progress_with(for_the_server + for_a_client + 1), Progress::stored);
}

// The client's host: a container longer than the readahead needs a buffer.
TEST(OutOfMemory, IsAnsweredWhereTheClientCanRegisterNoMore) {
  // messages and operations; the container to be written follows
  constexpr std::size_t for_connecting = 2;
  StoreOptions options;
  options.client_max_registrations = for_connecting + 1;
  const Bytes long_value(2'000, std::byte{3});
  const Bytes long_key(1'000, std::byte{4});
  run_one_client(options, [&](fabric::Host&, Client& client) {
    EXPECT_EQ(client.set(numbered_key(0), long_value).answer, Answer::stored);
    EXPECT_EQ(client.get(numbered_key(0)).answer, Answer::out_of_memory);
    EXPECT_EQ(client.set(numbered_key(1), bytes_of("short")).answer, Answer::stored);
    EXPECT_EQ(client.get(numbered_key(1)).value, bytes_of("short"));
    EXPECT_EQ(client.set(long_key, bytes_of("short")).answer, Answer::stored);
    EXPECT_EQ(client.set(long_key, bytes_of("again")).answer, Answer::out_of_memory);
    EXPECT_EQ(client.remove(long_key).answer, Answer::out_of_memory);
    EXPECT_EQ(client.remove(numbered_key(0)).answer, Answer::deleted);
  });
}

// Overwriting the same keys forever needs no more memory than storing them once.
TEST(OutOfMemory, IsNotReachedByOverwriting) {
  const Bytes value(400, std::byte{3});
  const StoreRun run =
      run_one_client(options_of_little_memory(), [&](fabric::Host&, Client& client) {
        for (int number = 0; number < 300; ++number) {
          ASSERT_EQ(client.set(numbered_key(number % 2), value).answer, Answer::stored) << number;
        }
      });
  EXPECT_GT(run.inspection.statistics.mature_collections, 10U);
}

// Sizes

TEST(Value, LargerThanARegionIsRefused) {
  StoreOptions options;
  options.server.geometry.region_bytes = 1'024;
  const std::uint64_t largest = 1'024 - engine::container_bytes(bytes_of("key").size(), 0);
  run_one_client(options, [&](fabric::Host&, Client& client) {
    const Bytes key = bytes_of("key");
    EXPECT_EQ(client.set(key, Bytes(largest)).answer, Answer::stored);
    EXPECT_EQ(client.set(key, Bytes(largest + 1)).answer, Answer::value_too_large);
    EXPECT_EQ(client.set(key, Bytes(1'000'000)).answer, Answer::value_too_large);
    EXPECT_EQ(client.get(key).value, Bytes(largest));
    EXPECT_EQ(client.set(bytes_of("other"), Bytes(largest)).answer, Answer::value_too_large);
    EXPECT_EQ(client.get(bytes_of("other")).answer, Answer::not_found);
  });
}

// A client writes a container with one request, and clients with other devices may read it.
TEST(Value, LongerThanARequestOfTheDeviceIsRefused) {
  constexpr std::uint64_t longest = 4'096;
  StoreOptions options;
  options.simulation.max_message_bytes = longest;
  const Bytes key = bytes_of("key");
  const std::uint64_t largest = longest - engine::container_bytes(key.size(), 0);
  run_one_client(options, [&](fabric::Host&, Client& client) {
    EXPECT_EQ(client.set(key, Bytes(largest)).answer, Answer::stored);
    EXPECT_EQ(client.set(key, Bytes(largest + 1)).answer, Answer::value_too_large);
    EXPECT_EQ(client.get(key).value, Bytes(largest));
  });
}

TEST(Value, MayBeEmpty) {
  const StoreRun run = run_one_client({}, [](fabric::Host&, Client& client) {
    const Bytes key = bytes_of("key");
    EXPECT_EQ(client.set(key, {}).answer, Answer::stored);
    const engine::GetResult result = client.get(key);
    EXPECT_EQ(result.answer, Answer::found);
    EXPECT_TRUE(result.value.empty());
  });
  EXPECT_EQ(run.state.contents.size(), 1U);
}

TEST(Value, OfManyPacketsIsReadWhole) {
  StoreOptions options;
  options.simulation.mtu_bytes = 256;
  run_one_client(options, [](fabric::Host&, Client& client) {
    Bytes value(30'000);
    for (std::size_t index = 0; index < value.size(); ++index) {
      value[index] = static_cast<std::byte>(index * 7 + index / 256);
    }
    EXPECT_EQ(client.set(bytes_of("key"), value).answer, Answer::stored);
    EXPECT_EQ(client.get(bytes_of("key")).value, value);
  });
}

TEST(Value, CanBeUsedWhereTheNetworkPutIt) {
  run_one_client({}, [](fabric::Host&, Client& client) {
    const Bytes key = bytes_of("key");
    Bytes seen;
    int calls = 0;
    const auto use = [&](std::span<const std::byte> value) {
      seen.assign(value.begin(), value.end());
      ++calls;
    };
    EXPECT_EQ(client.get(key, use).answer, Answer::not_found);
    EXPECT_EQ(calls, 0);
    for (const std::size_t size : {std::size_t{0}, std::size_t{100}, std::size_t{3'000}}) {
      const Bytes value(size, std::byte{7});
      EXPECT_EQ(client.set(key, value).answer, Answer::stored);
      const engine::GetResult result = client.get(key, use);
      EXPECT_EQ(result.answer, Answer::found);
      EXPECT_TRUE(result.value.empty());
      EXPECT_EQ(seen, value);
      EXPECT_EQ(result.statistics.round_trips, client.get(key).statistics.round_trips);
    }
    EXPECT_EQ(calls, 3);
  });
}

TEST(Key, MayBeAnyBytes) {
  const StoreRun run = run_one_client({}, [](fabric::Host&, Client& client) {
    for (int value = 0; value < 256; ++value) {
      const Bytes key(3, static_cast<std::byte>(value));
      EXPECT_EQ(client.set(key, key).answer, Answer::stored);
    }
    for (int value = 0; value < 256; ++value) {
      const Bytes key(3, static_cast<std::byte>(value));
      EXPECT_EQ(client.get(key).value, key);
    }
  });
  EXPECT_EQ(run.state.contents.size(), 256U);
}

void expect_invalid(Client& client, const Bytes& key) {
  EXPECT_EQ(client.get(key).answer, Answer::invalid_key);
  EXPECT_EQ(client.set(key, bytes_of("value")).answer, Answer::invalid_key);
  EXPECT_EQ(client.remove(key).answer, Answer::invalid_key);
}

TEST(Key, MustNotBeEmpty) {
  const StoreRun run =
      run_one_client({}, [](fabric::Host&, Client& client) { expect_invalid(client, {}); });
  EXPECT_TRUE(run.state.contents.empty());
}

TEST(Key, MayHave65536BytesAndNoMore) {
  StoreOptions options;
  options.server.geometry.region_bytes = 131'072;
  const StoreRun run = run_one_client(options, [](fabric::Host&, Client& client) {
    const Bytes key(engine::max_key_bytes, std::byte{1});
    Bytes similar = key;
    similar.back() = std::byte{2};
    EXPECT_EQ(client.set(key, bytes_of("first")).answer, Answer::stored);
    EXPECT_EQ(client.set(similar, bytes_of("second")).answer, Answer::stored);
    EXPECT_EQ(client.get(key).value, bytes_of("first"));
    EXPECT_EQ(client.get(similar).value, bytes_of("second"));
    EXPECT_EQ(client.remove(key).answer, Answer::deleted);
    EXPECT_EQ(client.get(key).answer, Answer::not_found);
    expect_invalid(client, Bytes(engine::max_key_bytes + 1, std::byte{1}));
  });
  EXPECT_EQ(run.state.contents.size(), 1U);
}

}  // namespace
}  // namespace falafel::engine_test
