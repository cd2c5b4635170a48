// Measures the pauses of a running store: one client GETs a key and one SETs a key, again and
// again, each with a store of its own. An operation that fails is repeated until it succeeds, and
// lasts until then. `tools/measure-restart` and `tests/vm/restart` restart the server meanwhile.
//
// Prints "ready" when both clients have begun, and after each SIGUSR1 the longest GET and SET since
// the line before. SIGTERM ends the program.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

#include "falafel/store.h"

namespace falafel {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::string_view key = "falafel-pause";
constexpr auto between_attempts = std::chrono::microseconds(500);

class RepeatedOperation {
 public:
  // `succeeds` makes one attempt.
  RepeatedOperation(Store& store, std::function<bool(Store&)> succeeds)
      : store_(store), succeeds_(std::move(succeeds)), thread_([this] { repeat(); }) {}
  ~RepeatedOperation() {
    is_ending_ = true;
    thread_.join();
  }
  RepeatedOperation(const RepeatedOperation&) = delete;
  RepeatedOperation& operator=(const RepeatedOperation&) = delete;

  void wait_until_begun() {
    has_begun_.wait(false);
    take_longest();  // the first one includes waiting for memory
  }
  // Since the last call.
  Clock::duration take_longest() {
    const std::scoped_lock lock(mutex_);
    return std::exchange(longest_, Clock::duration{});
  }

 private:
  void repeat() {
    while (!is_ending_) {
      const Clock::time_point begin = Clock::now();
      while (!is_ending_ && !succeeds_(store_)) std::this_thread::sleep_for(between_attempts);
      {
        const std::scoped_lock lock(mutex_);
        longest_ = std::max(longest_, Clock::now() - begin);
      }
      has_begun_ = true;
      has_begun_.notify_all();
    }
  }

  Store& store_;
  const std::function<bool(Store&)> succeeds_;
  std::atomic<bool> is_ending_ = false;
  std::atomic<bool> has_begun_ = false;
  std::mutex mutex_;
  Clock::duration longest_{};  // guarded by mutex_
  std::thread thread_;         // last, because it uses the others
};

double milliseconds(Clock::duration duration) {
  return std::chrono::duration<double, std::milli>(duration).count();
}

int measure(const StoreOptions& options, const sigset_t& signals) {
  const auto writer = Store::open(options);
  const auto reader = Store::open(options);
  if (!writer || !reader) {
    fmt::print(stderr, "falafel-pause: cannot connect: {}\n",
               (writer ? reader : writer).error().detail);
    return 1;
  }
  RepeatedOperation set(**writer, [](Store& store) {
    return store.set(key, "value").answer == engine::Answer::stored;
  });
  set.wait_until_begun();
  RepeatedOperation get(
      **reader, [](Store& store) { return store.get(key).answer == engine::Answer::found; });
  get.wait_until_begun();
  fmt::print("ready\n");
  std::fflush(stdout);
  for (int signal = 0; ::sigwait(&signals, &signal) == 0 && signal == SIGUSR1;) {
    fmt::print("longest GET {:.0f} ms, longest SET {:.0f} ms\n", milliseconds(get.take_longest()),
               milliseconds(set.take_longest()));
    std::fflush(stdout);
  }
  return 0;
}

}  // namespace
}  // namespace falafel

int main(int count, char** words) {
  falafel::StoreOptions options;
  CLI::App app("Measures the longest GET and SET of a store while its server restarts.");
  app.add_option("--name", options.server, "the server's name")->capture_default_str();
  app.add_option("--fabric", options.fabric.fabric, "shm or verbs")
      ->check(CLI::IsMember({"shm", "verbs"}))
      ->capture_default_str();
  app.add_option("--own-address", options.fabric.own_address, "address of this host; only verbs");
  app.add_option("--directory", options.fabric.directory, "folder of the servers' sockets");
  CLI11_PARSE(app, count, words);
  // Before there are threads, which inherit this.
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGUSR1);
  sigaddset(&signals, SIGTERM);
  ::pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  return falafel::measure(options, signals);
}
