// Random operations on a store over shared memory whose table and memory grow, and whose server's
// process ends and starts again over its memory file. The answers and the contents must be those of
// a map, and each server that ends in good order leaves memory as it should be.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "engine/client/client.h"
#include "engine/server/server.h"
#include "processes/child_process.h"
#include "processes/shared_object.h"
#include "tests/hang_limit.h"
#include "tests/shm/stress.h"

namespace falafel::shm_test {
namespace {

using namespace std::chrono_literals;
using engine::Answer;
using processes::ChildProcess;

constexpr std::uint64_t most_keys = 240;
constexpr std::uint64_t longest_value_bytes = 1'500;
const fabric::Address growing_store_address{.host = "server", .service = 7};

// An operation on some keys, one after the other.
struct Burst {
  enum class Kind : std::uint8_t { set, get, remove };
  Kind kind = Kind::set;
  std::uint64_t first_key = 0;
  std::uint64_t keys = 0;
  std::uint64_t value_bytes = 0;
};

// The operations of a client while a server's process runs, and after it has been killed.
struct Life {
  std::vector<Burst> with_server;
  bool is_killed = false;
  std::vector<Burst> without_server;
};

struct Plan {
  engine::ServerOptions server;
  std::uint32_t remembered_locations = 0;
  std::vector<Life> lives;
};

void showValue(const Burst& burst, std::ostream& out) {
  constexpr std::array names{"set", "get", "remove"};
  out << fmt::format("{} {} keys from {}, values of {} bytes",
                     names.at(static_cast<std::size_t>(burst.kind)), burst.keys, burst.first_key,
                     burst.value_bytes);
}

Burst draw_burst() {
  return {.kind = *rc::gen::weightedElement<Burst::Kind>(
              {{5, Burst::Kind::set}, {2, Burst::Kind::get}, {3, Burst::Kind::remove}}),
          .first_key = *rc::gen::inRange<std::uint64_t>(0, most_keys),
          .keys = *rc::gen::weightedOneOf<std::uint64_t>(
              {{2, rc::gen::just<std::uint64_t>(1)},
               {3, rc::gen::inRange<std::uint64_t>(1, most_keys / 2)}}),
          .value_bytes = *rc::gen::inRange<std::uint64_t>(0, longest_value_bytes + 1)};
}

Life draw_life() {
  const auto bursts = rc::gen::container<std::vector<Burst>>(rc::gen::exec(draw_burst));
  Life life;
  life.with_server = *rc::gen::scale(0.2, bursts);
  life.is_killed = *rc::gen::arbitrary<bool>();
  if (life.is_killed) life.without_server = *rc::gen::scale(0.05, bursts);
  return life;
}

// The limit is more than all keys with the longest values need, so nothing may be refused.
engine::Geometry draw_geometry() {
  engine::Geometry geometry;
  geometry.unit_bytes = *rc::gen::element(8U, 64U);
  geometry.table_entries = *rc::gen::element<std::uint64_t>(1, 3, 4, 16);
  geometry.most_tables = engine::most_tables_of_a_store;
  while (geometry.entries_of(geometry.most_tables - 1) > 8 * most_keys) --geometry.most_tables;
  geometry.region_bytes = *rc::gen::element<std::uint64_t>(4'096, 8'192);
  geometry.region_count = *rc::gen::inRange<std::uint64_t>(4, 9);
  geometry.mature_bytes = geometry.region_bytes;
  geometry.mature_space_count =
      static_cast<std::uint32_t>(8 * most_keys * longest_value_bytes / geometry.mature_bytes);
  return engine::with_spare_bits(geometry, {.size_class = *rc::gen::inRange(0U, 4U),
                                            .fingerprint = *rc::gen::inRange(0U, 9U)});
}

Plan draw_plan() {
  Plan plan;
  plan.server.geometry = draw_geometry();
  plan.server.memory_grows = true;
  plan.server.heartbeat_timeout_ns = hang_limit_ns;
  plan.server.cleanup_percent = *rc::gen::inRange(0U, 51U);
  plan.server.cleanup_interval_ns = *rc::gen::element<std::uint64_t>(200'000, 5'000'000);
  plan.server.measurement_interval_ns = 1'000'000;
  plan.remembered_locations = *rc::gen::element(0U, 8U, 1'024U);
  const auto lives = *rc::gen::inRange<std::size_t>(1, 5);
  for (std::size_t life = 0; life < lives; ++life) plan.lives.push_back(draw_life());
  return plan;
}

// The processes of a test share it.
struct Signals {
  std::atomic<bool> is_up;
  std::atomic<bool> shall_end;
  std::atomic<std::uint64_t> first_held_bytes;
  std::atomic<std::uint64_t> held_bytes;
  std::atomic<std::uint64_t> tables_begun;
};

// The program of the server's process. Returns whether its memory is as it should be at the end.
bool serve_until_asked_to_end(const std::filesystem::path& directory,
                              const engine::ServerOptions& options, Signals& signals) {
  std::vector<std::string> problems;
  const auto process = make_process(directory);
  const auto host = process->create_host(growing_store_address.host).value();
  host->run_program([&] {
    auto server = engine::Server::start(*host, options);
    if (!server) return problems.push_back("cannot start: " + server.error().detail);
    if (signals.first_held_bytes == 0) signals.first_held_bytes = (*server)->inspect().held_bytes;
    signals.is_up = true;
    while (!signals.shall_end) host->sleep_until(host->now_ns() + 1'000'000);
    await_rest(*host, **server, problems);
    judge_memory(**server, problems);
    signals.held_bytes = (*server)->inspect().held_bytes;
    signals.tables_begun += (*server)->inspect().statistics.tables_begun;
  });
  for (const std::string& problem : problems) std::fprintf(stderr, "%s\n", problem.c_str());
  return problems.empty();
}

std::vector<std::byte> bytes_of(const std::string& text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

std::string text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

struct Model {
  std::map<std::string, std::string> map;
  std::uint64_t values = 0;  // number of values that were stored
};

// Operations of a client beside a map.
class ComparedClient {
 public:
  ComparedClient(engine::Client& client, Model& model, bool has_server)
      : client_(client), model_(model), has_server_(has_server) {}

  void run(const Burst& burst) {
    for (std::uint64_t number = 0; number < burst.keys; ++number) {
      const std::string key = fmt::format("key {}", (burst.first_key + number) % most_keys);
      switch (burst.kind) {
        case Burst::Kind::set: set(key, burst.value_bytes); break;
        case Burst::Kind::get: get(key); break;
        case Burst::Kind::remove: remove(key); break;
      }
    }
  }
  void read_all() {
    for (std::uint64_t key = 0; key < most_keys; ++key) get(fmt::format("key {}", key));
    std::map<std::string, std::string> visited;
    const auto scanned = client_.for_each_key([&](const engine::KeyAndValue& pair) {
      visited.insert_or_assign(text_of(pair.key), text_of(pair.value));
    });
    RC_ASSERT(scanned.has_value());
    RC_ASSERT(visited == model_.map);
  }

 private:
  // Without a server, nobody grants memory, and nobody completes what it has begun. With one, only
  // the machine's other work makes an operation take that long.
  template <typename Operation>
  auto attempt(Operation operation) {
    const auto deadline = std::chrono::steady_clock::now() + hang_limit;
    auto result = operation();
    while (has_server_ && result.answer == Answer::timed_out) {
      RC_ASSERT(std::chrono::steady_clock::now() < deadline);
      result = operation();
    }
    return result;
  }
  void set(const std::string& key, std::uint64_t value_bytes) {
    std::string value = fmt::format("{} of {} ", ++model_.values, key);
    value.resize(std::max<std::size_t>(value.size(), value_bytes), 'v');
    const auto result = attempt([&] { return client_.set(bytes_of(key), bytes_of(value)); });
    if (result.answer == Answer::timed_out) return;
    demand(result.answer == Answer::stored, "SET", key, result.answer);
    model_.map[key] = value;
  }
  void get(const std::string& key) {
    const auto result = attempt([&] { return client_.get(bytes_of(key)); });
    if (result.answer == Answer::timed_out) return;
    const auto known = model_.map.find(key);
    const bool is_known = known != model_.map.end();
    demand(result.answer == (is_known ? Answer::found : Answer::not_found), "GET", key,
           result.answer);
    if (is_known) demand(text_of(result.value) == known->second, "GET", key, result.answer);
  }
  void remove(const std::string& key) {
    const auto result = attempt([&] { return client_.remove(bytes_of(key)); });
    if (result.answer == Answer::timed_out) return;
    const bool is_known = model_.map.erase(key) > 0;
    demand(result.answer == (is_known ? Answer::deleted : Answer::not_found), "DELETE", key,
           result.answer);
  }
  // rapidcheck describes a failure by another run of the plan, which may hold.
  void demand(bool holds, std::string_view operation, const std::string& key, Answer answer) {
    if (!holds) {
      fmt::print(stderr, "{} of \"{}\" {} a server: {}; {} values were stored\n", operation, key,
                 has_server_ ? "with" : "without", to_string(answer), model_.values);
    }
    RC_ASSERT(holds);
  }

  engine::Client& client_;
  Model& model_;
  bool has_server_;
};

class GrowingStore {
 public:
  explicit GrowingStore(const Plan& plan) : plan_(plan) {
    std::string name = (std::filesystem::temp_directory_path() / "falafel.XXXXXX").native();
    directory_ = ::mkdtemp(name.data());
    plan_.server.kept_memory = (directory_ / "memory").native();
  }
  ~GrowingStore() { std::filesystem::remove_all(directory_); }
  GrowingStore(const GrowingStore&) = delete;
  GrowingStore& operator=(const GrowingStore&) = delete;

  // Ends with a life in which all is read.
  void run() {
    for (const Life& life : plan_.lives) run(life);
    run(Life{});
  }
  const Signals& signals() const { return *signals_; }

 private:
  void run(const Life& life) {
    signals_->is_up = false;
    signals_->shall_end = false;
    ChildProcess server([&] {
      const bool is_right = serve_until_asked_to_end(directory_, plan_.server, *signals_);
      return is_right ? EXIT_SUCCESS : EXIT_FAILURE;
    });
    while (!signals_->is_up) {
      RC_ASSERT(!server.poll().has_value());
      std::this_thread::sleep_for(1ms);
    }
    // The client's process must have ended before the next server is forked from this one.
    const auto process = make_process(directory_);
    const auto host = process->create_host("client").value();
    host->run_program([&] { use(*host, life, server); });
    if (life.is_killed) return;
    signals_->shall_end = true;
    RC_ASSERT(server.wait().is_success());
  }
  void use(fabric::Host& host, const Life& life, ChildProcess& server) {
    const auto client =
        engine::Client::connect(host, growing_store_address,
                                {.location_cache = {.entries = plan_.remembered_locations},
                                 .server_timeout_ns = 5'000'000})
            .value();
    ComparedClient with_server(*client, model_, true);
    with_server.read_all();
    for (const Burst& burst : life.with_server) with_server.run(burst);
    if (!life.is_killed) return client->disconnect();
    server.kill();
    server.wait();
    ComparedClient without_server(*client, model_, false);
    for (const Burst& burst : life.without_server) without_server.run(burst);
  }

  Plan plan_;
  std::filesystem::path directory_;
  processes::SharedObject<Signals> signals_;
  Model model_;
};

TEST(GrowingStore, IsAMapThroughAllItsLives) {
  std::uint64_t tables_begun = 0;
  bool has_grown_memory = false;
  EXPECT_TRUE(rc::check("a growing store is a map through all its lives", [&] {
    const Plan plan = draw_plan();
    GrowingStore store(plan);
    store.run();
    tables_begun += store.signals().tables_begun;
    has_grown_memory |= store.signals().held_bytes > 2 * store.signals().first_held_bytes;
  }));
  EXPECT_GT(tables_begun, 0U);
  EXPECT_TRUE(has_grown_memory);
}

}  // namespace
}  // namespace falafel::shm_test
