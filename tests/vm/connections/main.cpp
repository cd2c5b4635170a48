// Connects to a server over verbs many times with the client library, in rounds of connections that
// exist at the same time. Each connection stores and reads a key. A connection ends in one of two
// ways: the store is closed, or the process that has it is killed in the middle of operations.
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <atomic>
#include <barrier>
#include <chrono>
#include <csignal>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "fabric/assert.h"
#include "falafel/store.h"
#include "tests/hang_limit.h"

namespace falafel::connections {
namespace {

using engine::Answer;
using Clock = std::chrono::steady_clock;

struct Settings {
  std::string server = "server";
  std::string own_address = "client";
  std::uint32_t connections = 128;
  std::uint32_t simultaneous = 64;  // of a round; each has a thread
  std::uint32_t killed = 0;         // of a round
};

StoreOptions store_options(const Settings& settings) {
  StoreOptions options;
  options.server = settings.server;
  options.fabric.fabric = "verbs";
  options.fabric.own_address = settings.own_address;
  options.location_cache_entries = 0;
  options.connect_timeout_ns = hang_limit_ns;
  options.fabric.report_failure = [](std::string_view what) { fmt::print("device: {}\n", what); };
  return options;
}

// Tries again while the server has as many clients as it accepts, because the previous ones are
// leaving, or is too busy to answer.
std::unique_ptr<Store> connect(const Settings& settings, std::string& problem) {
  const Clock::time_point deadline = Clock::now() + hang_limit;
  for (;;) {
    auto store = Store::open(store_options(settings));
    if (store) {
      problem.clear();
      return std::move(*store);
    }
    problem = store.error().detail;
    const OpenProblem kind = store.error().problem;
    const bool may_pass = kind == OpenProblem::refused || kind == OpenProblem::unreachable;
    if (!may_pass || Clock::now() > deadline) return nullptr;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

// A sentence about what went wrong.
std::optional<std::string> use(Store& store, std::uint32_t thread, std::uint32_t round) {
  const std::string key = fmt::format("thread {}", thread);
  const std::string value = fmt::format("round {}", round);
  if (const auto set = store.set(key, value); set.answer != Answer::stored) {
    return fmt::format("set answered {}", to_string(set.answer));
  }
  const auto got = store.get(key);
  if (got.answer != Answer::found || text_of(got.value) != value) {
    return fmt::format("get answered {}", to_string(got.answer));
  }
  return std::nullopt;
}

// The connections of one round, in a process of its own that kills itself at the end.
class Round {
 public:
  Round(const Settings& settings, std::uint32_t number)
      : settings_(settings),
        number_(number),
        everyone_(static_cast<std::ptrdiff_t>(settings.simultaneous)) {}

  // When this returns, `killed` threads are still using their stores, and the others have closed
  // theirs. Returns whether all connections worked.
  bool run() {
    std::vector<std::thread> closing;
    for (std::uint32_t thread = 0; thread < settings_.simultaneous; ++thread) {
      std::thread started([this, thread] { work(thread); });
      if (thread < settings_.killed) {
        started.detach();
      } else {
        closing.push_back(std::move(started));
      }
    }
    for (std::thread& thread : closing) thread.join();
    return failures_ == 0;
  }

 private:
  // All threads are connected at the same time, and use their stores before any of them closes.
  void work(std::uint32_t thread) {
    std::string problem;
    const std::unique_ptr<Store> store = connect(settings_, problem);
    everyone_.arrive_and_wait();
    if (store != nullptr) problem = use_again(*store, thread);
    if (!problem.empty()) {
      ++failures_;
      fmt::print("round {}, thread {}: {}\n", number_, thread, problem);
    }
    everyone_.arrive_and_wait();
    while (store != nullptr && thread < settings_.killed) use(*store, thread, number_);
  }

  // A machine that is emulated on a busy one may stall for longer than a connection's timeouts.
  // The store then connects again.
  std::string use_again(Store& store, std::uint32_t thread) {
    const auto failed = use(store, thread, number_);
    if (!failed) return "";
    fmt::print("round {}, thread {}: {}; again\n", number_, thread, *failed);
    return use(store, thread, number_).value_or("");
  }

  const Settings& settings_;
  const std::uint32_t number_;
  std::barrier<> everyone_;
  std::atomic<std::uint32_t> failures_ = 0;
};

bool run_round(const Settings& settings, std::uint32_t number) {
  const pid_t child = ::fork();
  FALAFEL_ASSERT(child >= 0, "no process");
  if (child == 0) {
    Round round(settings, number);
    if (round.run()) ::kill(::getpid(), SIGKILL);
    ::_exit(1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
}

int run(const Settings& settings) {
  const Clock::time_point start = Clock::now();
  const std::uint32_t rounds =
      (settings.connections + settings.simultaneous - 1) / settings.simultaneous;
  std::uint32_t failures = 0;
  for (std::uint32_t round = 0; round < rounds; ++round) {
    if (!run_round(settings, round)) ++failures;
    if (round % 10 == 9) fmt::print("round {} of {}\n", round + 1, rounds);
  }
  const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
  fmt::print("{} connections, {} at a time, {} of them killed, in {:.1f} s; {} rounds failed\n",
             rounds * settings.simultaneous, settings.simultaneous, rounds * settings.killed,
             seconds, failures);
  return failures == 0 ? 0 : 1;
}

}  // namespace
}  // namespace falafel::connections

int main(int argc, char** argv) {
  falafel::connections::Settings settings;
  CLI::App app("Connects to a server over verbs many times.");
  app.add_option("--server", settings.server);
  app.add_option("--own-address", settings.own_address);
  app.add_option("--connections", settings.connections, "rounded up to full rounds");
  app.add_option("--simultaneous", settings.simultaneous, "connections of a round")
      ->check(CLI::PositiveNumber);
  app.add_option("--killed", settings.killed, "connections of a round whose process is killed");
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  CLI11_PARSE(app, argc, argv);
  return falafel::connections::run(settings);
}
