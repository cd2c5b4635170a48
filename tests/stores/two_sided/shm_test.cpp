// Troost's store on shared memory, with real threads: the histories of several clients on few keys
// are linearizable, whether threads poll or block.
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
#include "stores/two_sided/client.h"
#include "stores/two_sided/invariants.h"
#include "stores/two_sided/server.h"
#include "tests/stores/two_sided/bytes.h"

namespace falafel::two_sided_test {
namespace {

using checkers::specifications::KeyValueMap;
using two_sided::Answer;
using two_sided::Client;
using two_sided::Server;

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

two_sided::Options small_options(two_sided::Waiting waiting) {
  two_sided::Options options;
  options.safeguards = two_sided::Safeguards::hardened();
  options.waiting = waiting;
  options.buckets = 2;
  options.max_clients = clients;
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

  void serve(const two_sided::Options& options) {
    const auto host = process_->create_host("server").value();
    host->run_program([&] {
      const auto server = Server::start(*host, options).value();
      is_up_ = true;
      while (working_ > 0) host->sleep_until(host->now_ns() + millisecond_ns);
      const two_sided::ServerInspection inspection = server->inspect();
      EXPECT_EQ(two_sided::find_problems(inspection), std::vector<std::string>());
      requests_ = inspection.statistics.requests;
    });
  }

  void work(const two_sided::Options& options, std::uint32_t number) {
    while (!is_up_) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    const auto host = process_->create_host("client").value();
    host->run_program([&] {
      auto client = Client::connect(*host, {.host = "server", .service = options.service}, options);
      ASSERT_TRUE(client) << client.error().detail;
      Worker(**client, number, history_).run();
      EXPECT_EQ((*client)->close().answer, Answer::deleted);
    });
    --working_;
  }

  void run(const two_sided::Options& options) {
    working_ = clients;
    std::vector<std::jthread> threads;
    threads.emplace_back([&] { serve(options); });
    for (std::uint32_t number = 0; number < clients; ++number) {
      threads.emplace_back([&, number] { work(options, number); });
    }
    threads.clear();  // waits for all of them
    const checkers::Judgement judgement = history_.judge();
    EXPECT_EQ(judgement.verdict, checkers::Verdict::holds) << judgement.explanation;
    EXPECT_EQ(requests_, std::uint64_t{clients} * (operations_per_client + 1));
  }

  std::filesystem::path folder_;
  std::unique_ptr<shm::Process> process_;
  SharedHistory history_;
  std::atomic<bool> is_up_ = false;
  std::atomic<int> working_ = 0;
  std::uint64_t requests_ = 0;
};

TEST_F(SharedMemory, PollingThreadsAreLinearizable) {
  run(small_options(two_sided::Waiting::polling));
}

TEST_F(SharedMemory, BlockingThreadsAreLinearizable) {
  run(small_options(two_sided::Waiting::blocking));
}

}  // namespace
}  // namespace falafel::two_sided_test
