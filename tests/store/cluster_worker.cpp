// Threads that use a cluster whose list of servers is in etcd, until standard input ends. Each has
// a client of its own. For each line "answered" or "disconnected" of standard input, the program
// waits until 30 further operations have got an answer about their keys, or none because no server
// may be asked, and prints the line. At the end it judges the history of all threads and prints how
// often each answer came. The threads also increment counters by COMPARE-AND-SET, whose sum must be
// the number of increments. Exit status: 0, linearizable; 1, not; 2, no cluster.
#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <iostream>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "fabric/time_units.h"
#include "falafel/cluster.h"
#include "tests/stores/load/shared_history.h"

namespace falafel {
namespace {

using engine::Answer;
using stores_test::KeyValueMap;
using stores_test::SharedHistory;

constexpr std::uint32_t threads = 3;
constexpr std::uint64_t keys = 24;
constexpr std::uint64_t counters = 8;
using fabric::second_ns;

ClusterOptions options(const std::string& etcd) {
  ClusterOptions options{.etcd = {etcd}};
  options.store.server_timeout_ns = second_ns;
  options.store.reconnect_interval_ns = second_ns / 100;
  return options;
}

// How many operations of all threads have ended.
struct Progress {
  std::atomic<std::uint64_t> answered = 0;
  std::atomic<std::uint64_t> disconnected = 0;

  void await(const std::string& kind) const {
    constexpr std::uint64_t further = 30;
    const std::atomic<std::uint64_t>& count = kind == "answered" ? answered : disconnected;
    const std::uint64_t wanted = count + further;
    while (count < wanted) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
};

// The increments of all threads.
struct Increments {
  std::atomic<std::uint64_t> certain = 0;
  std::atomic<std::uint64_t> doubtful = 0;  // may have happened
};

std::string counter_key(std::uint64_t counter) { return fmt::format("counter {}", counter); }

std::uint64_t number_in(const engine::GetResult& result) {
  return result.answer == Answer::found ? std::stoull(std::string(text_of(result.value))) : 0;
}

bool is_about_the_key(const engine::GetResult& result) {
  return result.answer == Answer::found || result.answer == Answer::not_found;
}

void increment(Cluster& cluster, const std::string& key, Increments& increments) {
  using engine::Condition;
  const engine::GetResult found = cluster.get(key);
  if (!is_about_the_key(found)) return;
  const auto condition =
      found.answer == Answer::found ? Condition::equals(found.value) : Condition::absent();
  const std::string next = std::to_string(number_in(found) + 1);
  const Answer answer = cluster.compare_and_set(key, condition, next, std::nullopt).answer;
  if (answer == Answer::stored) ++increments.certain;
  if (answer == Answer::unknown_outcome) ++increments.doubtful;
}

std::uint64_t sum_of_counters(Cluster& cluster) {
  std::uint64_t sum = 0;
  for (std::uint64_t counter = 0; counter < counters; ++counter) {
    engine::GetResult found;
    while (!is_about_the_key(found)) found = cluster.get(counter_key(counter));
    sum += number_in(found);
  }
  return sum;
}

class Worker {
 public:
  Worker(std::unique_ptr<Cluster> cluster, std::uint32_t number, SharedHistory& history)
      : cluster_(std::move(cluster)), number_(number), history_(history), random_(number) {}

  void operate(Progress& progress) {
    const KeyValueMap::Operation operation = draw();
    const std::size_t call = history_.call(number_, operation);
    std::optional<KeyValueMap::Result> result;
    const Answer answer = ask(operation, result);
    ++answers_[answer];
    if (result) ++progress.answered;
    if (answer == Answer::disconnected) ++progress.disconnected;
    if (result) {
      history_.complete(call, std::move(*result));
    } else if (answer != Answer::unknown_outcome) {
      history_.refuse(call);
    }
  }

  void count(Increments& increments) {
    increment(*cluster_, counter_key(random_() % counters), increments);
  }

  Cluster& cluster() { return *cluster_; }
  const std::map<Answer, std::uint64_t>& answers() const { return answers_; }

 private:
  KeyValueMap::Operation draw() {
    std::string key = "key " + std::to_string(random_() % keys);
    switch (random_() % 8) {
      case 0:
      case 1: return KeyValueMap::Set{std::move(key), fmt::format("{}.{}", number_, ++written_)};
      case 2: return KeyValueMap::Remove{std::move(key)};
      default: return KeyValueMap::Get{std::move(key)};
    }
  }

  // Empty: the answer says nothing about the key.
  Answer ask(const KeyValueMap::Operation& operation, std::optional<KeyValueMap::Result>& result) {
    if (const auto* const get = std::get_if<KeyValueMap::Get>(&operation)) {
      const engine::GetResult found = cluster_->get(get->key);
      if (found.answer == Answer::found) {
        result = KeyValueMap::found(std::string(text_of(found.value)));
      }
      if (found.answer == Answer::not_found) result = KeyValueMap::absent();
      return found.answer;
    }
    if (const auto* const set = std::get_if<KeyValueMap::Set>(&operation)) {
      const Answer answer = cluster_->set(set->key, set->value).answer;
      if (answer == Answer::stored) result = KeyValueMap::Result();
      return answer;
    }
    const Answer answer = cluster_->remove(std::get<KeyValueMap::Remove>(operation).key).answer;
    if (answer == Answer::deleted) result = KeyValueMap::removed();
    if (answer == Answer::not_found) result = KeyValueMap::absent();
    return answer;
  }

  std::unique_ptr<Cluster> cluster_;
  std::uint32_t number_;
  SharedHistory& history_;
  std::mt19937_64 random_;
  std::uint64_t written_ = 0;
  std::map<Answer, std::uint64_t> answers_;
};

int run(const std::string& etcd) {
  SharedHistory history;
  std::vector<Worker> workers;
  for (std::uint32_t number = 0; number < threads; ++number) {
    auto cluster = Cluster::open(options(etcd));
    if (!cluster) {
      fmt::print(stderr, "{}\n", cluster.error().detail);
      return 2;
    }
    workers.emplace_back(std::move(*cluster), number, history);
  }
  Progress progress;
  Increments increments;
  std::atomic<bool> stops = false;
  {
    std::vector<std::jthread> running;
    for (Worker& worker : workers) {
      running.emplace_back([&] {
        while (!stops) {
          worker.operate(progress);
          worker.count(increments);
          std::this_thread::sleep_for(std::chrono::milliseconds(2));
        }
      });
    }
    fmt::print("working\n");
    std::fflush(stdout);
    for (std::string line; std::getline(std::cin, line);) {
      progress.await(line);
      fmt::print("{}\n", line);
      std::fflush(stdout);
    }
    stops = true;
  }
  std::map<Answer, std::uint64_t> answers;
  for (const Worker& worker : workers) {
    for (const auto& [answer, count] : worker.answers()) answers[answer] += count;
  }
  for (const auto& [answer, count] : answers) fmt::print("{} {}\n", to_string(answer), count);
  const std::uint64_t sum = sum_of_counters(workers.front().cluster());
  fmt::print("increments {}\n", increments.certain.load());
  if (sum < increments.certain || sum > increments.certain + increments.doubtful) {
    fmt::print("the counters' sum is {} after {} certain and {} doubtful increments\n", sum,
               increments.certain.load(), increments.doubtful.load());
    return 1;
  }
  const checkers::Judgement judgement = history.judge();
  const bool is_correct = judgement.verdict == checkers::Verdict::holds;
  fmt::print("{}\n", is_correct ? "linearizable" : judgement.explanation);
  return is_correct ? 0 : 1;
}

}  // namespace
}  // namespace falafel

int main(int argument_count, char** arguments) {
  if (argument_count != 2) {
    fmt::print(stderr, "usage: store_cluster_worker ETCD\n");
    return 2;
  }
  return falafel::run(arguments[1]);
}
