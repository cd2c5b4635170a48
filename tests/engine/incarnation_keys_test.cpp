// A change of a cluster's list while a server's process ends: with its memory, the change goes on;
// without it, the copies are gone, and the change begins anew.
#include "engine/placement/incarnation_keys.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "tests/engine/schedules.h"
#include "tests/engine/store.h"

namespace falafel::engine_test {
namespace {

using engine::ChangeReport;
using engine::ChangeTools;
using engine::IncarnationKeys;
using engine::MayChange;
using engine::PlacementDirectory;
using engine::PlacementList;
using engine::ReachedKeys;
using engine::ServerKeys;

enum class Restart : bool { cold, warm };

constexpr int key_count = 6;
constexpr const char* source_name = "source";
constexpr const char* target_name = "server";

StoreOptions options_of(std::uint64_t seed, Restart restart) {
  StoreOptions options;
  options.seed = seed;
  options.server.geometry = {
      .table_entries = 16, .region_bytes = 512, .region_count = 8, .mature_bytes = 2'048};
  if (restart == Restart::warm) options.server.kept_memory = "store";
  options.server.heartbeat_timeout_ns = 5 * millisecond_ns;
  options.server.acknowledge_timeout_ns = 100 * microsecond_ns;
  options.server.retry_count = 1;
  options.client.connect_timeout_ns = millisecond_ns;
  options.client.acknowledge_timeout_ns = 100 * microsecond_ns;
  options.client.retry_count = 1;
  return options;
}

Bytes moved_key(int number) { return bytes_of(fmt::format("key {}", number)); }
Bytes moved_value(int number) { return bytes_of(fmt::format("value {}", number)); }

// A client of the server that connects again when its connection is lost.
class Connection {
 public:
  Connection(TestStore& store, fabric::Host& host) : store_(store), host_(host) { connect(); }

  Client& client() {
    if (!client_->is_connected()) connect();
    return *client_;
  }
  IncarnationKeys keys(MayChange may_change) {
    return {client().server_incarnation(),
            [this](const std::function<void(Client&)>& body) { body(client()); },
            std::move(may_change)};
  }

 private:
  void connect() {
    client_.reset();
    while (client_ == nullptr) {
      auto connected = store_.connect(host_);
      if (connected) client_ = std::move(*connected);
      if (!connected) host_.sleep_until(host_.now_ns() + 10 * microsecond_ns);
    }
  }

  TestStore& store_;
  fabric::Host& host_;
  std::unique_ptr<Client> client_;
};

void restart_server(TestStore& store) {
  store.simulation().crash("server");
  store.simulation().restart("server");
}

using Body = std::function<void(TestStore& store, fabric::Host& host)>;

void run_with_restarts(Restart restart, const Body& body) {
  for_each_seed(10, [&](std::uint64_t seed, fabric::FiberStackPool& stacks) {
    TestStore store(options_of(seed, restart), stacks);
    store.add_host("operator", [&](fabric::Host& host) { body(store, host); });
    run_without_problems(store);
  });
}

TEST(IncarnationKeys, GoOnAfterAWarmRestart) {
  run_with_restarts(Restart::warm, [](TestStore& store, fabric::Host& host) {
    Connection connection(store, host);
    IncarnationKeys keys = connection.keys([] { return true; });
    EXPECT_EQ(keys.set(moved_key(0), moved_value(0), 0).answer, Answer::stored);
    restart_server(store);
    EXPECT_EQ(keys.get(moved_key(0)).value, moved_value(0));
    restart_server(store);
    EXPECT_EQ(keys.set(moved_key(1), moved_value(1), 0).answer, Answer::stored);
    restart_server(store);
    EXPECT_TRUE(keys.is_same_incarnation());
    EXPECT_EQ(keys.remove(moved_key(1)).answer, Answer::deleted);
  });
}

TEST(IncarnationKeys, EndWithTheMemory) {
  run_with_restarts(Restart::cold, [](TestStore& store, fabric::Host& host) {
    Connection connection(store, host);
    IncarnationKeys keys = connection.keys([] { return true; });
    EXPECT_EQ(keys.set(moved_key(0), moved_value(0), 0).answer, Answer::stored);
    EXPECT_TRUE(keys.is_same_incarnation());
    restart_server(store);
    EXPECT_FALSE(keys.is_same_incarnation());
    EXPECT_EQ(keys.get(moved_key(0)).answer, Answer::disconnected);
    EXPECT_EQ(keys.set(moved_key(1), moved_value(1), 0).answer, Answer::disconnected);
    EXPECT_EQ(keys.remove(moved_key(0)).answer, Answer::disconnected);
    EXPECT_FALSE(keys.wait_for_end_of_operations(second_ns));
    ServerKeys::Contents contents;
    EXPECT_FALSE(keys.list(contents));
    EXPECT_EQ(connection.client().get(moved_key(1)).answer, Answer::not_found);
  });
}

// The lease of the operator may end while it connects again.
TEST(IncarnationKeys, AskForPermissionAgainAfterAWarmRestart) {
  run_with_restarts(Restart::warm, [](TestStore& store, fabric::Host& host) {
    Connection connection(store, host);
    int questions = 0;
    IncarnationKeys keys = connection.keys([&] { return ++questions < 3; });
    EXPECT_EQ(keys.set(moved_key(0), moved_value(0), 0).answer, Answer::stored);
    restart_server(store);
    EXPECT_EQ(keys.set(moved_key(1), moved_value(1), 0).answer, Answer::disconnected);
    EXPECT_EQ(questions, 3);
    EXPECT_EQ(keys.get(moved_key(1)).answer, Answer::not_found);
  });
}

// The changes

class OwnDirectory final : public PlacementDirectory {
 public:
  tl::expected<Entry, std::string> read() override { return entry; }
  tl::expected<bool, std::string> replace(const PlacementList& list,
                                          std::uint64_t revision) override {
    if (revision != entry.revision) return false;
    entry = {.list = list, .revision = revision + 1};
    return true;
  }

  Entry entry{.list = {.servers = {source_name}}, .revision = 1};
};

// The server that all keys leave. Calls a function before each GET of a change that moves them.
class SourceKeys final : public ServerKeys {
 public:
  using Map = std::map<Bytes, Bytes>;

  SourceKeys(Map& keys, std::function<void()> on_get) : keys_(keys), on_get_(std::move(on_get)) {}

  tl::expected<void, Answer> list(Contents& contents) override {
    for (const auto& [key, value] : keys_) contents.keys.push_back({.key = key});
    return {};
  }
  engine::GetResult get(std::span<const std::byte> key) override {
    on_get_();
    engine::GetResult result;
    result.answer = Answer::found;
    result.value = keys_.at(Bytes(key.begin(), key.end()));
    return result;
  }
  engine::SetResult set(std::span<const std::byte>, std::span<const std::byte>,
                        std::uint64_t) override {
    return {};
  }
  engine::DeleteResult remove(std::span<const std::byte> key) override {
    engine::DeleteResult result;
    const bool was_there = keys_.erase(Bytes(key.begin(), key.end())) > 0;
    result.answer = was_there ? Answer::deleted : Answer::not_found;
    return result;
  }
  engine::DeleteResult drop(const engine::DamagedContainer&) override { return {}; }
  tl::expected<void, Answer> wait_for_end_of_operations(std::uint64_t) override { return {}; }
  bool is_same_incarnation() override { return true; }

 private:
  Map& keys_;
  const std::function<void()> on_get_;
};

// All keys move from a source to the server of a store.
class Move {
 public:
  Move(TestStore& store, fabric::Host& host) : host_(host), connection_(store, host) {
    for (int number = 0; number < key_count; ++number) {
      source_[moved_key(number)] = moved_value(number);
    }
  }

  tl::expected<ChangeReport, std::string> change(const std::function<void()>& on_get) {
    ChangeTools tools{
        .directory = directory_,
        .reach = [&](const std::string& server, const MayChange& may_change) -> ReachedKeys {
          if (server == source_name) return std::make_unique<SourceKeys>(source_, on_get);
          return std::make_unique<IncarnationKeys>(connection_.keys(may_change));
        },
        .now_ns = [&] { return host_.now_ns(); },
        .wait = [&](std::uint64_t) { host_.sleep_until(host_.now_ns() + millisecond_ns); },
        .own_number = 1};
    return change_placement(tools, {target_name});
  }

  void expect_all_keys_at_server() {
    EXPECT_EQ(directory_.entry.list.servers, std::vector<std::string>{target_name});
    for (int number = 0; number < key_count; ++number) {
      EXPECT_EQ(connection_.client().get(moved_key(number)).value, moved_value(number)) << number;
    }
    EXPECT_TRUE(source_.empty());
  }
  const SourceKeys::Map& source() const { return source_; }
  const PlacementList& list() const { return directory_.entry.list; }

 private:
  fabric::Host& host_;
  Connection connection_;
  SourceKeys::Map source_;
  OwnDirectory directory_;
};

// Restarts the server when the change copies a key, after `copies` others.
std::function<void()> restart_after(TestStore& store, int copies) {
  const auto left = std::make_shared<int>(copies);
  return [&store, left] {
    if ((*left)-- == 0) restart_server(store);
  };
}

TEST(ChangeOverRestart, CarriesOnWithItsCopiesIfTheMemoryStays) {
  for (int copies = 0; copies < key_count; ++copies) {
    SCOPED_TRACE(copies);
    run_with_restarts(Restart::warm, [&](TestStore& store, fabric::Host& host) {
      Move move(store, host);
      const auto changed = move.change(restart_after(store, copies));
      ASSERT_TRUE(changed) << changed.error();
      EXPECT_EQ(changed->moved, static_cast<std::uint64_t>(key_count));
      move.expect_all_keys_at_server();
    });
  }
}

TEST(ChangeOverRestart, BeginsAnewIfTheCopiesAreLost) {
  for (int copies = 0; copies < key_count; ++copies) {
    SCOPED_TRACE(copies);
    run_with_restarts(Restart::cold, [&](TestStore& store, fabric::Host& host) {
      Move move(store, host);
      const auto failed = move.change(restart_after(store, copies));
      ASSERT_FALSE(failed);
      EXPECT_NE(failed.error().find("has lost its memory"), std::string::npos) << failed.error();
      EXPECT_TRUE(move.list().is_changing());
      EXPECT_EQ(move.source().size(), static_cast<std::size_t>(key_count));
      const auto changed = move.change([] {});
      ASSERT_TRUE(changed) << changed.error();
      EXPECT_EQ(changed->moved, static_cast<std::uint64_t>(key_count));
      move.expect_all_keys_at_server();
    });
  }
}

}  // namespace
}  // namespace falafel::engine_test
