// The clients of one machine, and their history.
#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <thread>

#include "fabric/verbs/host.h"
#include "tests/stores/load/random_operations.h"
#include "tests/vm/driver/control.h"
#include "tests/vm/stores/store.h"

namespace falafel::vm_stores {
namespace {

using stores::Answer;
using stores_test::Tally;

fabric::Result<std::unique_ptr<verbs::Host>> create_host(const Settings& settings) {
  verbs::HostOptions options;
  options.name = settings.name;
  options.spin_ns = verbs::never_spin_ns;  // the machine has two processors
  options.report_failure = [](std::string_view what) { fmt::print("device: {}\n", what); };
  return verbs::Host::create(options);
}

std::uint16_t control_service(const Settings& settings) {
  return static_cast<std::uint16_t>(settings.service - 1);
}

int finish(const Problems& problems) {
  for (const std::string& problem : problems) fmt::print("problem: {}\n", problem);
  return problems.empty() ? 0 : 1;
}

std::string describe_times(std::string_view what, std::vector<std::uint64_t> durations_ns) {
  if (durations_ns.empty()) return fmt::format("no {}", what);
  std::ranges::sort(durations_ns);
  const auto percentile_us = [&](std::size_t percent) {
    return static_cast<double>(durations_ns[(durations_ns.size() - 1) * percent / 100]) / 1e3;
  };
  return fmt::format("{} {}: median {:.0f} us, 99% {:.0f} us", durations_ns.size(), what,
                     percentile_us(50), percentile_us(99));
}

class Clients {
 public:
  Clients(const Settings& settings, Store& store) : settings_(settings), store_(store) {}

  int run() {
    {
      std::vector<std::jthread> threads;
      for (std::uint32_t number = 0; number < settings_.clients; ++number) {
        threads.emplace_back([this, number] { add(run_client(number)); });
      }
    }
    judge_answers();
    const checkers::Judgement judgement = store_.judge(history_);
    if (judgement.verdict != checkers::Verdict::holds) add({judgement.explanation});
    fmt::print("{}: {}; {}; {} calls recorded; {}\n", settings_.store,
               describe_times("GETs", tally_.get_ns), describe_times("changes", tally_.change_ns),
               history_.size(),
               problems_.empty() ? "the history is linearizable" : "there are problems");
    return vm_stores::finish(problems_);
  }

 private:
  Problems run_client(std::uint32_t number) {
    const auto host = create_host(settings_);
    if (!host) return {host.error().detail};
    Problems problems;
    (*host)->run_program([&] {
      problems =
          store_.work(**host, number, [&](AnyClient&& client) { operate(**host, client, number); });
    });
    return problems;
  }

  void operate(fabric::Host& host, AnyClient& client, std::uint32_t number) {
    const Tally tally =
        stores_test::run_random_operations(host, client,
                                           {.client = number,
                                            .operations = static_cast<int>(settings_.operations),
                                            .keys = static_cast<int>(settings_.keys),
                                            .deletes = store_.says_if_deleted()},
                                           history_);
    const std::lock_guard lock(mutex_);
    tally_ += tally;
  }

  void judge_answers() {
    std::set<Answer> expected = store_.other_answers();
    expected.insert({Answer::found, Answer::not_found, Answer::stored, Answer::deleted});
    for (const auto& [answer, count] : tally_.answers) {
      if (!expected.contains(answer)) {
        add({fmt::format("{} operations answered {}", count, to_string(answer))});
      }
    }
    const std::uint64_t planned = std::uint64_t{settings_.clients} * settings_.operations;
    const std::uint64_t done = tally_.get_ns.size() + tally_.change_ns.size() - tally_.given_up;
    if (done < planned) add({fmt::format("{} of {} operations were completed", done, planned)});
    if (!tally_.answers.contains(Answer::found)) add({"no GET found anything"});
  }

  void add(const Problems& problems) {
    const std::lock_guard lock(mutex_);
    problems_.insert(problems_.end(), problems.begin(), problems.end());
  }

  const Settings& settings_;
  Store& store_;
  stores_test::SharedHistory history_;
  std::mutex mutex_;  // of what follows
  Tally tally_;
  Problems problems_;
};

// The body runs on a host of its own.
int run_on_host(const Settings& settings, const std::function<Problems(fabric::Host&)>& body) {
  const auto host = create_host(settings);
  if (!host) {
    fmt::print("{}\n", host.error().detail);
    return 2;
  }
  Problems problems;
  (*host)->run_program([&] { problems = body(**host); });
  return finish(problems);
}

Problems stop(fabric::Host& host, const Settings& settings) {
  const fabric::Address control{.host = settings.server, .service = control_service(settings)};
  return driver::stop_server(host, control) ? Problems() : Problems{"the server does not answer"};
}

}  // namespace

int serve(const Settings& settings) {
  const auto store = make_store(settings);
  const int status = run_on_host(settings, [&](fabric::Host& host) {
    return store->serve(host, [&]() -> Problems {
      fmt::print("{}: serving\n", settings.store);
      const auto stopped = driver::wait_until_stopped(host, control_service(settings));
      return stopped ? Problems() : Problems{stopped.error().detail};
    });
  });
  fmt::print("{}: the server's memory {}\n", settings.store,
             status == 0 ? "is in order" : "is not judged, or is wrong");
  return status;
}

int load(const Settings& settings) {
  const auto store = make_store(settings);
  const int status = Clients(settings, *store).run();
  const int stopped =
      run_on_host(settings, [&](fabric::Host& host) { return stop(host, settings); });
  return status != 0 ? status : stopped;
}

}  // namespace falafel::vm_stores
