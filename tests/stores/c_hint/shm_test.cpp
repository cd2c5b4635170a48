// C-Hint on shared memory, with real threads: the histories of several clients on few keys are
// linearizable, through evictions and the ends of leases.
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <mutex>
#include <random>
#include <thread>

#include "checkers/specification_linearizability.h"
#include "checkers/specifications/key_value_map.h"
#include "fabric/shm/process.h"
#include "stores/c_hint/client.h"
#include "stores/c_hint/invariants.h"
#include "stores/c_hint/server.h"
#include "tests/stores/c_hint/bytes.h"

namespace falafel::c_hint_test {
namespace {

using c_hint::Answer;
using c_hint::Client;
using c_hint::Server;
using checkers::specifications::KeyValueMap;

constexpr std::uint64_t millisecond_ns = 1'000'000;
constexpr int clients = 3;
constexpr int operations_per_client = 1'500;
constexpr int keys = 8;

// Calls of several threads. The lock orders them in real time.
class SharedHistory {
 public:
  std::size_t call(std::uint32_t client, KeyValueMap::Operation operation) {
    const std::lock_guard lock(mutex_);
    return calls_.call(++time_, client, std::move(operation));
  }
  void complete(std::size_t number, KeyValueMap::Result result) {
    const std::lock_guard lock(mutex_);
    calls_.complete(++time_, number, std::move(result));
  }
  checkers::Judgement judge() const { return checkers::check_linearizability(calls_); }

 private:
  std::mutex mutex_;
  std::uint64_t time_ = 0;
  checkers::SpecificationHistory<KeyValueMap> calls_;
};

c_hint::Options small_options() {
  c_hint::Options options;
  options.safeguards = c_hint::Safeguards::hardened();
  options.items_bytes = 256;
  options.unit_of_empty_memory_ns = 200'000;
  options.unit_of_full_memory_ns = 100'000;
  options.report_interval_ns = millisecond_ns;
  options.clock_error_ns = 10'000;
  options.max_clients = 8;
  options.acknowledge_timeout_ns = 10 * millisecond_ns;
  return options;
}

class Worker {
 public:
  Worker(Client& client, std::uint32_t number, SharedHistory& history)
      : client_(client), number_(number), history_(history), random_(number) {}

  void run() {
    for (int operation = 0; operation < operations_per_client; ++operation) {
      const std::string key = std::to_string(random_() % keys);
      switch (random_() % 4) {
        case 0: put(key, std::to_string(number_) + "." + std::to_string(operation)); break;
        case 1: remove(key); break;
        default: get(key);
      }
    }
  }

 private:
  void put(const std::string& key, const std::string& value) {
    const auto call = history_.call(number_, KeyValueMap::Set{key, value});
    const Answer answer = client_.set(bytes_of(key), bytes_of(value)).answer;
    EXPECT_EQ(answer, Answer::stored);
    history_.complete(call, {});
  }
  void get(const std::string& key) {
    const auto call = history_.call(number_, KeyValueMap::Get{key});
    const auto result = client_.get(bytes_of(key));
    if (result.answer == Answer::found) {
      history_.complete(call, KeyValueMap::found(text_of(result.value)));
    } else {
      EXPECT_EQ(result.answer, Answer::not_found);
      history_.complete(call, KeyValueMap::absent());
    }
  }
  void remove(const std::string& key) {
    const auto call = history_.call(number_, KeyValueMap::Remove{key});
    const Answer answer = client_.remove(bytes_of(key)).answer;
    EXPECT_TRUE(answer == Answer::deleted || answer == Answer::not_found);
    history_.complete(call,
                      answer == Answer::deleted ? KeyValueMap::removed() : KeyValueMap::absent());
  }

  Client& client_;
  std::uint32_t number_;
  SharedHistory& history_;
  std::mt19937_64 random_;
};

class SharedMemory : public testing::Test {
 protected:
  SharedMemory() {
    std::string name = (std::filesystem::temp_directory_path() / "falafel.XXXXXX").native();
    folder_ = ::mkdtemp(name.data());
    process_ =
        shm::Process::create({.directory = folder_, .memory_limit_bytes = std::uint64_t{1} << 28U})
            .value();
  }
  ~SharedMemory() override {
    process_.reset();
    std::filesystem::remove_all(folder_);
  }

  void serve(const c_hint::Options& options) {
    const auto host = process_->create_host("server").value();
    host->run_program([&] {
      const auto server = Server::start(*host, options, &backend_).value();
      is_up_ = true;
      while (working_ > 0) host->sleep_until(host->now_ns() + millisecond_ns);
      const c_hint::ServerInspection inspection = server->inspect();
      EXPECT_EQ(c_hint::find_problems(inspection), std::vector<std::string>());
      evictions_ = inspection.statistics.directory.evictions;
    });
  }

  void work(const c_hint::Options& options, std::uint32_t number) {
    while (!is_up_) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    const auto host = process_->create_host("client").value();
    host->run_program([&] {
      auto client = Client::connect(*host, {.host = "server", .service = options.service}, options);
      ASSERT_TRUE(client) << client.error().detail;
      Worker(**client, number, history_).run();
      const std::lock_guard lock(mutex_);
      statistics_ += (*client)->statistics();
    });
    --working_;
  }

  void run(const c_hint::Options& options) {
    working_ = clients;
    std::vector<std::jthread> threads;
    threads.emplace_back([&] { serve(options); });
    for (std::uint32_t number = 0; number < clients; ++number) {
      threads.emplace_back([&, number] { work(options, number); });
    }
    threads.clear();  // waits for all of them
    const checkers::Judgement judgement = history_.judge();
    EXPECT_EQ(judgement.verdict, checkers::Verdict::holds) << judgement.explanation;
    EXPECT_GT(evictions_, 0U);
  }

  std::filesystem::path folder_;
  std::unique_ptr<shm::Process> process_;
  SharedHistory history_;
  std::atomic<bool> is_up_ = false;
  std::atomic<int> working_ = 0;
  std::uint64_t evictions_ = 0;
  c_hint::MapBackend backend_{0};
  std::mutex mutex_;
  c_hint::OperationStatistics statistics_;
};

TEST_F(SharedMemory, UpdatesOutOfPlaceAreLinearizable) {
  c_hint::Options options = small_options();
  options.update = c_hint::Update::out_of_place;
  run(options);
  EXPECT_GT(statistics_.pointer_hits, 0U);
}

TEST_F(SharedMemory, UpdatesInPlaceAreLinearizable) {
  run(small_options());
  EXPECT_GT(statistics_.pointer_hits, 0U);
}

TEST_F(SharedMemory, GetsByMessagesAreLinearizable) {
  run(c_hint::multi_queue(small_options()));
  EXPECT_EQ(statistics_.pointer_hits, 0U);
}

}  // namespace
}  // namespace falafel::c_hint_test
