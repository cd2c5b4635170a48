#include "tools/command_line/acceptance/store_part.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include "processes/child_process.h"
#include "processes/shared_object.h"
#include "tools/command_line/acceptance/child.h"
#include "tools/command_line/acceptance/network_interface.h"
#include "tools/command_line/acceptance/peer.h"
#include "tools/command_line/acceptance/recorded_load.h"
#include "tools/command_line/acceptance/whereabouts.h"

namespace falafel::acceptance {
namespace {

using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

constexpr auto longest_round = 20s;
// The server needs a while to fence a killed client, and has places for 64.
constexpr auto between_kills = 5s;
constexpr auto cut_lasts = 20s;

using SharedLog = processes::SharedObject<Log>;

struct Totals {
  std::uint64_t rounds = 0;
  std::uint64_t operations = 0;
  std::uint64_t pending = 0;  // without an answer
  std::uint64_t refused = 0;
  std::uint64_t unknown = 0;  // rounds that the checker could not judge
  std::uint64_t kills = 0;
  std::string violation{};
  std::string failure{};
};

class StorePart {
 public:
  explicit StorePart(const StorePlan& plan) : plan_(plan) {}

  PartReport run() {
    const auto begin = Clock::now();
    const auto end = begin + std::chrono::duration<double>(plan_.seconds);
    const auto round_time = std::min<std::chrono::duration<double>>(
        longest_round, std::chrono::duration<double>(plan_.seconds / 3));
    while (is_in_order() && (totals_.rounds == 0 || Clock::now() < end)) run_round(round_time);
    Row cable = try_cable();
    add_rows();
    report_.rows.push_back(std::move(cable));
    report_.rows.push_back(end_store());
    report_.seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    return std::move(report_);
  }

 private:
  bool is_in_order() const { return totals_.violation.empty() && totals_.failure.empty(); }

  LoadPlace place_of(std::uint32_t client, std::chrono::duration<double> time) const {
    return {.server = plan_.server,
            .client = client,
            .round = round_,
            .duration_ns = static_cast<std::uint64_t>(time.count() * 1e9)};
  }

  // The clients of a round, with a log for each and one for the read-back.
  struct Round {
    std::vector<std::unique_ptr<SharedLog>> logs;
    std::vector<processes::ChildProcess> clients;
  };

  Round begin_round(std::chrono::duration<double> time) {
    Round round;
    ++round_;
    for (std::uint32_t client = 0; client <= plan_.clients; ++client)
      round.logs.push_back(std::make_unique<SharedLog>());
    for (std::uint32_t client = 0; client < plan_.clients; ++client) {
      round.clients.emplace_back(
          [this, client, time, &log = **round.logs[client]] {
            return run_client(place_of(client, time), log);
          },
          processes::ChildOptions{.dies_with_parent = true});
    }
    return round;
  }

  int run_client(const LoadPlace& place, Log& log) const {
    try {
      run_on_host(plan_.fabric, [&](fabric::Host& host) {
        const std::string problem = run_recorded_client(host, place, log);
        if (!problem.empty()) throw NotDone{problem};
        return nlohmann::json();
      });
      return 0;
    } catch (const std::exception& error) {
      fmt::print(stderr, "client {}: {}\n", place.client, error.what());
      return 1;
    }
  }

  void run_round(std::chrono::duration<double> time) {
    Round round = begin_round(time);
    const bool kills = Clock::now() >= next_kill_;
    if (kills) kill_one(round, time);
    end_round(round, kills ? 1 : 0);
  }

  // Kills the first client once it has some operations behind it.
  void kill_one(Round& round, std::chrono::duration<double> time) {
    const Log& log = **round.logs[0];
    const std::uint32_t least = 20 + static_cast<std::uint32_t>(random_() % 1'000);
    const auto connected_by = Clock::now() + limit_of_child;
    while (!log.is_connected && Clock::now() < connected_by && !round.clients[0].poll())
      std::this_thread::sleep_for(1ms);
    const auto latest = Clock::now() + time / 2;
    while (log.size < least && Clock::now() < latest) std::this_thread::sleep_for(100us);
    if (round.clients[0].poll()) return;  // it has ended by itself
    round.clients[0].kill();
    ++totals_.kills;
    next_kill_ = Clock::now() + between_kills;
  }

  void end_round(Round& round, std::size_t first_survivor) {
    for (std::size_t client = 0; client < round.clients.size(); ++client) {
      const auto ending = round.clients[client].wait_for(limit_of_child);
      const bool has_to_succeed = client >= first_survivor;
      if (!ending) {
        fail(describe_hang(client, **round.logs[client], round.clients[client].id()));
        round.clients[client].kill();
      } else if (has_to_succeed && !ending->is_success()) {
        fail(fmt::format("client {} {}", client, ending->describe()));
      }
    }
    read_back_and_judge(round);
  }

  void fail(const std::string& why) {
    if (!totals_.failure.empty()) totals_.failure += "\n";
    totals_.failure += fmt::format("round {}{}: {}", round_,
                                   is_cut_ ? ", in which the interface went down" : "", why);
  }

  static std::string describe_hang(std::size_t client, const Log& log, pid_t process) {
    const auto now_ns = static_cast<std::uint64_t>(Clock::now().time_since_epoch().count());
    return fmt::format("client {} does not end within {} s; {}; {}", client, limit_of_child.count(),
                       whereabouts_of(log, now_ns), whereabouts_of(process));
  }

  void read_back_and_judge(Round& round) {
    const auto read = run_in_child(limit_of_child, [&] {
      return run_on_host(plan_.fabric, [&](fabric::Host& host) {
        const std::string problem =
            read_back(host, place_of(plan_.clients, 0s), **round.logs.back());
        if (!problem.empty()) throw NotDone{problem};
        return nlohmann::json();
      });
    });
    if (!read) fail("reading back: " + read.error());
    std::vector<const Log*> logs;
    logs.reserve(round.logs.size());
    for (const auto& log : round.logs) logs.push_back(&**log);
    count(logs);
    const checkers::Judgement judgement = judge(logs);
    if (judgement.verdict == checkers::Verdict::violated) {
      totals_.violation = judgement.explanation;
    } else if (judgement.verdict == checkers::Verdict::unknown) {
      ++totals_.unknown;
    }
  }

  void count(const std::vector<const Log*>& logs) {
    ++totals_.rounds;
    for (const Log* const log : logs) {
      totals_.operations += log->size;
      for (std::uint32_t number = 0; number < log->size; ++number) {
        const Record& record = log->records[number];
        if (!record.has_returned || record.answer == checkers::Answer::indeterminate)
          ++totals_.pending;
        if (record.answer == checkers::Answer::refused) ++totals_.refused;
      }
    }
  }

  Row try_cable() {
    Row row{.name = "the network fails for a while",
            .source = "rules 18, 20, 22",
            .expected =
                "clients go on or hear that they are disconnected; the history stays "
                "linearizable; afterwards the store serves again",
            .observed = "not asked for: --interface NAME takes this machine's interface down",
            .verdict = Verdict::not_tried};
    if (plan_.interface.empty()) return row;
    row.verdict = Verdict::not_done;
    row.observed = "an earlier round had failed";
    if (!is_in_order()) return row;
    Round round = begin_round(cut_lasts * 3);
    for (std::size_t client = 0; client < round.clients.size(); ++client) {
      while (!(*round.logs[client])->is_connected && !round.clients[client].poll())
        std::this_thread::sleep_for(1ms);
    }
    std::this_thread::sleep_for(200ms);
    const auto cut_ns = static_cast<std::uint64_t>(Clock::now().time_since_epoch().count());
    is_cut_ = true;
    row.observed = set_interface(plan_.interface, false);
    if (!row.observed.empty()) {
      end_round(round, 0);
      return row;
    }
    std::this_thread::sleep_for(cut_lasts);
    row.observed = set_interface(plan_.interface, true);
    std::this_thread::sleep_for(5s);  // the address and the routes are back by then
    end_round(round, plan_.clients);
    if (!row.observed.empty()) return row;
    std::uint64_t lost = 0;
    std::uint64_t latest_ns = 0;
    for (std::uint32_t client = 0; client < plan_.clients; ++client) {
      const Log& log = **round.logs[client];
      if (!log.has_lost) continue;
      ++lost;
      latest_ns = std::max(latest_ns, log.end_ns - std::min<std::uint64_t>(log.end_ns, cut_ns));
    }
    row.observed = fmt::format(
        "interface {} down for {} s: {} of {} clients were disconnected, the last after {:.1f} s",
        plan_.interface, cut_lasts.count(), lost, plan_.clients,
        static_cast<double>(latest_ns) / 1e9);
    row.verdict = is_in_order() ? Verdict::held : Verdict::not_done;
    if (!totals_.violation.empty()) row.verdict = Verdict::violated;
    return row;
  }

  void add_rows() {
    Row history{.name = "histories of the clients",
                .source = "docs/checkers.md: linearizability",
                .expected = "some order of all operations explains every answer",
                .observed = fmt::format("{} operations in {} rounds; {} without an answer, {} "
                                        "refused; {} rounds could not be judged",
                                        totals_.operations, totals_.rounds, totals_.pending,
                                        totals_.refused, totals_.unknown),
                .verdict = Verdict::held};
    if (totals_.unknown > 0 || !totals_.failure.empty()) history.verdict = Verdict::not_done;
    if (!totals_.failure.empty()) history.observed += "\n" + totals_.failure;
    if (!totals_.violation.empty()) {
      history.verdict = Verdict::violated;
      history.observed += "\n" + totals_.violation;
    }
    report_.rows.push_back(std::move(history));
    report_.rows.push_back(
        {.name = "clients killed in the middle of operations (SIGKILL)",
         .source = "rules 20, 21; docs/protocol.md: fencing",
         .expected = "the others go on; the history holds with the pending operations in doubt",
         .observed = fmt::format("{} clients were killed", totals_.kills),
         .verdict = totals_.kills == 0 ? Verdict::not_done
                    : is_in_order()    ? Verdict::held
                                       : Verdict::not_done});
  }

  Row end_store() const {
    Row row{.name = "the server's memory at the end",
            .source = "docs/checkers.md: table, collector",
            .expected = "every byte is accounted for, every key is reachable",
            .observed = {}};
    const auto ended = run_in_child(limit_of_child, [&] {
      return run_on_host(plan_.fabric, [&](fabric::Host& host) {
        const Reply reply = Peer(host, plan_.server).ask({.task = Task::end_store});
        return nlohmann::json{{"holds", reply.words[0] != 0},
                              {"text", std::string(reply.text.data(), reply.text_bytes)}};
      });
    });
    if (!ended) {
      row.observed = ended.error();
      return row;
    }
    row.observed = ended->at("text");
    row.verdict = ended->at("holds").get<bool>() ? Verdict::held : Verdict::violated;
    return row;
  }

  const StorePlan& plan_;
  PartReport report_{.title = "The store",
                     .about =
                         "Clients in processes of their own work on one store, whose small "
                         "memory forces collections and cleanups. Checkers judge all "
                         "recorded operations."};
  Totals totals_;
  std::uint64_t round_ = 0;
  bool is_cut_ = false;  // the interface went down in this round, which is the last one
  Clock::time_point next_kill_ = Clock::now();
  std::minstd_rand random_{std::random_device()()};
};

}  // namespace

PartReport run_store(const StorePlan& plan) { return StorePart(plan).run(); }

}  // namespace falafel::acceptance
