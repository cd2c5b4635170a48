#include "tests/shm/stress.h"

#include <fmt/format.h>

#include <cstring>
#include <future>
#include <random>

#include "checkers/collector.h"
#include "checkers/linearizability.h"
#include "checkers/memory_view.h"
#include "checkers/table.h"
#include "engine/layout/container.h"
#include "fabric/time_units.h"
#include "tests/hang_limit.h"

namespace falafel::shm_test {

using checkers::OperationKind;
using engine::Answer;

namespace {

const fabric::Address server_address{.host = "server", .service = 7};
constexpr std::uint64_t memory_limit_bytes = std::uint64_t{1} << 28U;
using fabric::millisecond_ns;

using Bytes = std::vector<std::byte>;

Bytes make_key(std::uint32_t key) {
  const std::string text = fmt::format("key {}", key);
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

// A value that contains its number in each word. The number also determines its length.
Bytes make_value(std::uint64_t number) {
  Bytes value((1 + number % 7) * sizeof number);
  for (std::size_t offset = 0; offset < value.size(); offset += sizeof number) {
    std::memcpy(value.data() + offset, &number, sizeof number);
  }
  return value;
}

std::uint64_t number_of(const Bytes& value, std::vector<std::string>& problems) {
  std::uint64_t number = 0;
  if (value.size() >= sizeof number) std::memcpy(&number, value.data(), sizeof number);
  if (value != make_value(number)) {
    problems.push_back(fmt::format("a value of {} bytes that nobody wrote", value.size()));
  }
  return number;
}

// One fiber's share of a client's work.
class Worker {
 public:
  Worker(fabric::Host& host, engine::Client& client, const Stress& stress, SharedLog& log,
         std::uint32_t number, std::uint64_t seed, std::vector<std::string>& problems)
      : host_(host),
        client_(client),
        stress_(stress),
        log_(log),
        number_(number),
        random_(seed),
        problems_(problems) {}

  void run(std::uint64_t operations) {
    for (std::uint64_t count = 0; count < operations && problems_.empty(); ++count) {
      step();
      if (stress_.pause_ns > 0) host_.sleep_until(host_.now_ns() + stress_.pause_ns);
    }
  }
  void get(std::uint32_t key) {
    Record& record = log_.call(number_, OperationKind::get, key, 0);
    const engine::GetResult result = client_.get(make_key(key));
    const std::uint64_t found =
        result.answer == Answer::found ? number_of(result.value, problems_) : 0;
    complete(record, result.answer, found);
  }

 private:
  void step() {
    const auto key = static_cast<std::uint32_t>(random_() % stress_.keys);
    switch (random_() % 4) {
      case 0: return get(key);
      case 1: return remove(key);
      default: return set(key);
    }
  }
  void set(std::uint32_t key) {
    const std::uint64_t number = random_();
    Record& record = log_.call(number_, OperationKind::set, key, number);
    complete(record, client_.set(make_key(key), make_value(number)).answer, 0);
  }
  void remove(std::uint32_t key) {
    Record& record = log_.call(number_, OperationKind::remove, key, 0);
    complete(record, client_.remove(make_key(key)).answer, 0);
  }
  void complete(Record& record, Answer answer, std::uint64_t value) {
    SharedLog::complete(record, answer, value);
    switch (answer) {
      case Answer::found:
      case Answer::not_found:
      case Answer::stored:
      case Answer::deleted:
      case Answer::table_full:
      case Answer::out_of_memory: return;
      default: problems_.push_back(fmt::format("an operation answers {}", to_string(answer)));
    }
  }

  fabric::Host& host_;
  engine::Client& client_;
  const Stress& stress_;
  SharedLog& log_;
  std::uint32_t number_;
  std::mt19937_64 random_;
  std::vector<std::string>& problems_;
};

// Runs `body` with a client on a separate host.
template <typename Body>
void with_client(shm::Process& process, std::vector<std::string>& problems, Body body) {
  const auto host = process.create_host("client").value();
  host->run_program([&] {
    auto client = engine::Client::connect(*host, server_address, {});
    if (!client) return problems.push_back("cannot connect: " + client.error().detail);
    body(*host, **client);
    (*client)->disconnect();
  });
}

void read_all(shm::Process& process, const Stress& stress, SharedLog& log,
              std::vector<std::string>& problems) {
  with_client(process, problems, [&](fabric::Host& host, engine::Client& client) {
    Worker worker(host, client, stress, log, log.add_client(), 0, problems);
    for (std::uint32_t key = 0; key < stress.keys; ++key) worker.get(key);
  });
}

bool wait_until(fabric::Host& host, const std::function<bool()>& condition) {
  const std::uint64_t deadline_ns = host.now_ns() + hang_limit_ns;
  while (!condition()) {
    if (host.now_ns() > deadline_ns) return false;
    host.sleep_until(host.now_ns() + millisecond_ns);
  }
  return true;
}

}  // namespace

void judge_memory(engine::Server& server, std::vector<std::string>& problems) {
  const engine::ServerInspection inspection = server.inspect();
  const checkers::MemoryView view{.geometry = server.geometry(),
                                  .hash_key = server.hash_key(),
                                  .chunk = server.memory().bytes(),
                                  .regions = inspection.regions,
                                  .mature_spaces = inspection.mature_spaces};
  for (const checkers::Judgement& judgement :
       {checkers::check_table(view), checkers::check_collector(view)}) {
    if (judgement.verdict != checkers::Verdict::holds) {
      problems.push_back(judgement.property + ": " + judgement.explanation);
    }
  }
}

void await_rest(fabric::Host& host, engine::Server& server, std::vector<std::string>& problems) {
  const auto is_at_rest = [&] {
    const engine::ServerInspection inspection = server.inspect();
    return inspection.idle && inspection.statistics.clients_connected == 0;
  };
  if (!wait_until(host, is_at_rest)) problems.emplace_back("the server does not come to rest");
}

Stress small_store() {
  return {
      .geometry = {
          .table_entries = 8, .region_bytes = 1'024, .region_count = 16, .mature_bytes = 32'768}};
}

std::unique_ptr<shm::Process> make_process(const std::filesystem::path& directory) {
  auto process =
      shm::Process::create({.directory = directory, .memory_limit_bytes = memory_limit_bytes});
  FALAFEL_ASSERT(process.has_value(), "{}", process.error().detail);
  return std::move(*process);
}

std::vector<std::string> serve(shm::Process& process, const Stress& stress, SharedLog& log) {
  std::vector<std::string> problems;
  const auto host = process.create_host(server_address.host).value();
  host->run_program([&] {
    auto server = engine::Server::start(*host, {.geometry = stress.geometry,
                                                .service = server_address.service,
                                                .heartbeat_timeout_ns = stress.heartbeat_timeout_ns,
                                                .cleanup_interval_ns = 2 * millisecond_ns});
    FALAFEL_ASSERT(server.has_value(), "{}", server.error().detail);
    log.flags().server_is_up.store(true);
    while (!log.flags().clients_are_done) host->sleep_until(host->now_ns() + millisecond_ns);
    await_rest(*host, **server, problems);
    auto reader = std::async(std::launch::async, [&] { read_all(process, stress, log, problems); });
    const auto has_read = [&] {
      return reader.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
    };
    if (!wait_until(*host, has_read)) problems.emplace_back("the last client hangs");
    await_rest(*host, **server, problems);
    (*server)->clean_up();
    judge_memory(**server, problems);
  });
  return problems;
}

std::vector<std::string> work(shm::Process& process, const Stress& stress, SharedLog& log,
                              std::uint64_t seed) {
  std::vector<std::string> problems;
  with_client(process, problems, [&](fabric::Host& host, engine::Client& client) {
    const std::uint32_t number = log.add_client();
    std::vector<fabric::FiberId> fibers;
    for (std::uint32_t fiber = 0; fiber < stress.fibers; ++fiber) {
      fibers.push_back(host.spawn({.name = "worker"}, [&, fiber] {
        Worker(host, client, stress, log, number, seed * stress.fibers + fiber, problems)
            .run(stress.operations / stress.fibers);
      }));
    }
    for (const fabric::FiberId fiber : fibers) host.join(fiber);
    log.flags().logs[number].restarts.store(client.statistics().restarts);
  });
  return problems;
}

checkers::Judgement judge(SharedLog& log) {
  const checkers::History history = log.history();
  return checkers::check_linearizability(history.operations(), checkers::Model::key_value_register);
}

}  // namespace falafel::shm_test
