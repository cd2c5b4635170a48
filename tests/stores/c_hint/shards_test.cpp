// Several shards, and threads that take messages and pass them to the shards (C-Hint 2.1).
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "stores/c_hint/layout.h"
#include "tests/stores/c_hint/bytes.h"
#include "tests/stores/c_hint/store.h"

namespace falafel::c_hint_test {
namespace {

using c_hint::Answer;
using c_hint::Client;
using c_hint::Safeguards;

constexpr int keys = 8;

std::string name_of(int number) { return "key " + std::to_string(number); }

StoreOptions with_shards(std::uint32_t shards, std::uint32_t threads) {
  StoreOptions options;
  options.options.safeguards = Safeguards::hardened();
  options.options.items_bytes = 4'096;
  options.options.container_bytes = 512;
  options.options.shards = shards;
  options.options.communication_threads = threads;
  return options;
}

void use_keys(fabric::Host& host, Client& client) {
  for (int number = 0; number < keys; ++number) {
    EXPECT_EQ(client.get(bytes_of(name_of(number))).answer, Answer::not_found);
    EXPECT_EQ(client.set(bytes_of(name_of(number)), bytes_of("v")).answer, Answer::stored);
  }
  EXPECT_EQ(client.ping().answer, Answer::found);
  host.sleep_until(host.now_ns() + 8 * millisecond_ns);
  EXPECT_EQ(client.report().statistics.renewed_leases, std::uint64_t{keys});
  host.sleep_until(host.now_ns() + 8 * millisecond_ns);
  for (int number = 0; number < keys; ++number) {
    EXPECT_EQ(client.get(bytes_of(name_of(number))).statistics.pointer_hits, 1U);
  }
  EXPECT_EQ(client.remove(bytes_of(name_of(0))).answer, Answer::deleted);
  EXPECT_EQ(client.get(bytes_of(name_of(0))).answer, Answer::not_found);
}

TEST(Shards, HaveTheirKeysAndMemory) {
  for (const std::uint32_t shards : {1U, 2U, 4U}) {
    for (const std::uint32_t threads : {1U, 2U}) {
      for (const auto path : {c_hint::ReportPath::write_and_notify, c_hint::ReportPath::message}) {
        StoreOptions options = with_shards(shards, threads);
        options.options.report = path;
        const StoreRun run = run_client(options, use_keys);
        EXPECT_EQ(describe(run), "");
        EXPECT_EQ(run.server.descriptors.size(), std::size_t{keys - 1});
        EXPECT_EQ(run.server.statistics.items, std::uint64_t{keys - 1});
        std::set<std::uint32_t> used_shards;
        for (const auto& [hash, descriptor] : run.server.descriptors) {
          used_shards.insert(c_hint::shard_of(hash, shards));
          EXPECT_EQ(descriptor.offset / (options.options.items_bytes / shards),
                    c_hint::shard_of(hash, shards));
        }
        EXPECT_EQ(used_shards.size(), shards);
      }
    }
  }
}

std::uint64_t concurrent_requests(std::uint32_t shards, std::uint32_t threads) {
  TestStore store(with_shards(shards, threads));
  for (int client_number = 0; client_number < 2; ++client_number) {
    store.add_client([=](fabric::Host&, Client& client) {
      for (int number = 0; number < keys; ++number) {
        client.get(bytes_of(std::to_string(client_number) + name_of(number)));
      }
    });
  }
  const StoreRun run = store.run();
  EXPECT_EQ(describe(run), "");
  EXPECT_EQ(run.server.statistics.shard.misses, std::uint64_t{2 * keys});
  return run.server.statistics.concurrent_requests;
}

// A shard that waits for the backend delays no other.
TEST(Shards, WorkAtTheSameTime) {
  EXPECT_EQ(concurrent_requests(1, 2), 0U);
  EXPECT_GT(concurrent_requests(4, 1), 0U);
}

}  // namespace
}  // namespace falafel::c_hint_test
