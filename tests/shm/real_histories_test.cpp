// The engine between real threads and processes. Histories are linearizable, and the final memory
// is consistent, even if clients or the server are killed or stopped at random moments.
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <future>
#include <random>
#include <stdexcept>
#include <thread>

#include "processes/child_process.h"
#include "tests/hang_limit.h"
#include "tests/shm/stress.h"

namespace falafel::shm_test {
namespace {

using namespace std::chrono_literals;
using processes::ChildProcess;

// Returns false if the server's process ends instead.
bool comes_up(ChildProcess& server, SharedLog& log) {
  while (!log.flags().server_is_up) {
    if (server.poll()) return false;
    std::this_thread::sleep_for(1ms);
  }
  return true;
}

class RealHistoriesTest : public testing::Test {
 protected:
  RealHistoriesTest() {
    std::string name = (std::filesystem::temp_directory_path() / "falafel.XXXXXX").native();
    directory_ = ::mkdtemp(name.data());
  }
  ~RealHistoriesTest() override { std::filesystem::remove_all(directory_); }

  // Runs the task in a separate process, which exits with status 1 and prints the problems if there
  // are any.
  using Task = std::function<std::vector<std::string>(shm::Process&)>;
  ChildProcess start(const Task& task) const {
    return ChildProcess([&] {
      const std::vector<std::string> problems = task(*make_process(directory_));
      for (const std::string& problem : problems) std::fprintf(stderr, "%s\n", problem.c_str());
      return problems.empty() ? EXIT_SUCCESS : EXIT_FAILURE;
    });
  }
  ChildProcess start_server(const Stress& stress, SharedLog& log) const {
    ChildProcess server = start([&](shm::Process& process) { return serve(process, stress, log); });
    if (!comes_up(server, log)) throw std::runtime_error("the server ended before it was up");
    return server;
  }
  void run_processes(const Stress& stress);
  ChildProcess start_client(const Stress& stress, SharedLog& log, std::uint64_t seed) const {
    return start([&, seed](shm::Process& process) { return work(process, stress, log, seed); });
  }

  static void expect_success(ChildProcess& process) {
    const processes::Ending ending = process.wait();
    EXPECT_TRUE(ending.is_success()) << "the process " << ending.describe();
  }
  static void expect_linearizable(SharedLog& log, std::uint64_t least_operations) {
    const checkers::Judgement judgement = judge(log);
    EXPECT_EQ(judgement.verdict, checkers::Verdict::holds)
        << judgement.property << ": " << judgement.explanation;
    EXPECT_GE(log.history().operations().size(), least_operations);
  }

  std::filesystem::path directory_;
};

void run_threads(shm::Process& process, const Stress& stress, SharedLog& log, std::uint32_t clients,
                 std::uint64_t seed) {
  auto server = std::async(std::launch::async, [&] { return serve(process, stress, log); });
  while (!log.flags().server_is_up) std::this_thread::sleep_for(1ms);
  std::vector<std::future<std::vector<std::string>>> workers;
  for (std::uint32_t client = 0; client < clients; ++client) {
    workers.push_back(std::async(std::launch::async, [&, client] {
      return work(process, stress, log, seed * clients + client);
    }));
  }
  for (auto& worker : workers) {
    for (const std::string& problem : worker.get()) ADD_FAILURE() << problem;
  }
  log.flags().clients_are_done.store(true);
  for (const std::string& problem : server.get()) ADD_FAILURE() << problem;
}

TEST_F(RealHistoriesTest, OfThreads) {
  Stress stress = small_store();
  stress.operations = FALAFEL_STRESS_OPERATIONS;
  const auto process = make_process(directory_);
  for (const std::uint32_t clients : {2U, 4U, 8U}) {
    for (std::uint64_t round = 0; round < FALAFEL_STRESS_ROUNDS; ++round) {
      SCOPED_TRACE(testing::Message() << clients << " clients, round " << round);
      SharedLog log(stress.operations + stress.keys);
      run_threads(*process, stress, log, clients, round);
      expect_linearizable(log, clients * stress.operations);
      if (HasFailure()) return;
    }
  }
}

void RealHistoriesTest::run_processes(const Stress& stress) {
  for (std::uint64_t round = 0; round < FALAFEL_STRESS_ROUNDS; ++round) {
    SharedLog log(stress.operations + stress.keys);
    ChildProcess server = start_server(stress, log);
    std::vector<ChildProcess> clients;
    for (std::uint64_t client = 0; client < 3; ++client) {
      clients.push_back(start_client(stress, log, round * 3 + client));
    }
    for (ChildProcess& client : clients) expect_success(client);
    log.flags().clients_are_done.store(true);
    expect_success(server);
    expect_linearizable(log, 3 * stress.operations);
    if (HasFailure()) return;
  }
}

TEST_F(RealHistoriesTest, OfProcesses) {
  Stress stress = small_store();
  stress.operations = FALAFEL_STRESS_OPERATIONS;
  run_processes(stress);
}

// Clients that run until they are killed or done, and are then replaced.
class Workforce {
 public:
  using Start = std::function<ChildProcess()>;
  Workforce(std::size_t size, Start start) : start_(std::move(start)) {
    while (workers_.size() < size) workers_.push_back(start_());
  }
  void kill_one(std::size_t index) {
    ChildProcess& worker = workers_[index % workers_.size()];
    worker.kill();
    const processes::Ending ending = worker.wait();
    EXPECT_TRUE(ending.signal() || ending.is_success()) << "before it was killed";
    worker = start_();
  }
  std::vector<ChildProcess>& workers() { return workers_; }

 private:
  Start start_;
  std::vector<ChildProcess> workers_;
};

TEST_F(RealHistoriesTest, OfProcessesWithBlocks) {
  Stress stress = small_store();
  stress.geometry.mature_bytes = 1'024;
  stress.geometry.mature_space_count = 24;
  stress.operations = FALAFEL_STRESS_OPERATIONS;
  run_processes(stress);
}

TEST_F(RealHistoriesTest, OfClientsThatAreKilled) {
  constexpr int rounds = FALAFEL_KILL_ROUNDS;
  constexpr int kills_per_round = 20;
  Stress stress = small_store();
  stress.keys = 12;
  stress.geometry.table_entries = 16;
  stress.operations = 2'000;
  std::mt19937_64 random(1);
  for (std::uint64_t round = 0; round < rounds; ++round) {
    SharedLog log(stress.operations + stress.keys);
    ChildProcess server = start_server(stress, log);
    std::uint64_t seed = round * 1'000;
    Workforce workforce(3, [&] { return start_client(stress, log, ++seed); });
    for (int kill = 0; kill < kills_per_round; ++kill) {
      std::this_thread::sleep_for(std::chrono::microseconds(random() % 15'000));
      workforce.kill_one(random());
    }
    for (ChildProcess& client : workforce.workers()) expect_success(client);
    log.flags().clients_are_done.store(true);
    expect_success(server);
    expect_linearizable(log, 3 * stress.operations);
    if (HasFailure()) return;
  }
}

std::uint64_t operations_so_far(SharedLog& log) {
  std::uint64_t count = 0;
  for (const ClientLog& client : log.flags().logs) count += client.records;
  return count;
}

std::size_t clients_that_did(std::uint64_t operations, SharedLog& log) {
  return static_cast<std::size_t>(std::ranges::count_if(
      log.flags().logs, [&](const ClientLog& client) { return client.records >= operations; }));
}

// Memory that the stopped client may have read is not reused in the meantime, so there has to be
// enough.
TEST_F(RealHistoriesTest, OfAClientThatStandsStill) {
  Stress stress = small_store();
  stress.geometry.region_count = 4'096;
  stress.geometry.mature_bytes = 8'388'608;
  stress.operations = 10'000;
  SharedLog log(stress.operations + stress.keys);
  ChildProcess server = start_server(stress, log);
  std::array clients{start_client(stress, log, 1), start_client(stress, log, 2)};
  while (operations_so_far(log) < 1'000) std::this_thread::sleep_for(1ms);
  clients[0].send_signal(SIGSTOP);
  expect_success(clients[1]);
  clients[0].send_signal(SIGCONT);
  expect_success(clients[0]);
  log.flags().clients_are_done.store(true);
  expect_success(server);
  expect_linearizable(log, 2 * stress.operations);
}

// With little memory, the other clients wait until the server gives up on the stopped one. Only
// then can they go on. This also holds if it is stopped in the middle of a request. The test cannot
// choose that moment, so it makes several attempts.
TEST_F(RealHistoriesTest, OfAClientThatStandsStillForTooLong) {
  constexpr int attempts = 2;
  Stress stress = small_store();
  stress.operations = 10'000;
  stress.heartbeat_timeout_ns = 10'000'000'000;  // longer than a busy machine delays a client
  for (int attempt = 0; attempt < attempts && !HasFailure(); ++attempt) {
    SCOPED_TRACE(attempt);
    SharedLog log(stress.operations + stress.keys);
    ChildProcess server = start_server(stress, log);
    std::array clients{start_client(stress, log, 1), start_client(stress, log, 2)};
    while (clients_that_did(10, log) < clients.size()) std::this_thread::sleep_for(1ms);
    clients[0].send_signal(SIGSTOP);
    expect_success(clients[1]);
    clients[0].send_signal(SIGCONT);
    EXPECT_EQ(clients[0].wait().exit_status(), EXIT_FAILURE) << "it was disconnected";
    log.flags().clients_are_done.store(true);
    expect_success(server);
    expect_linearizable(log, stress.operations);
  }
}

// A client that keeps sending requests detects that the server was killed, although its time-outs
// are longer than any test.
void expect_disconnection(engine::Client& client, ChildProcess& server) {
  const std::array<std::byte, 1> key{std::byte{1}};
  EXPECT_EQ(client.set(key, key).answer, engine::Answer::stored);
  server.kill();
  while (client.get(key).answer != engine::Answer::disconnected) {
  }
  EXPECT_FALSE(client.is_connected());
}

// The client's messages are not received for longer than its own time-out. The resumed server must
// not judge the client silent.
TEST_F(RealHistoriesTest, OfAServerThatIsStopped) {
  Stress stress = small_store();
  stress.heartbeat_timeout_ns = 4'000'000'000;  // longer than a busy machine delays a client
  SharedLog log(100);
  ChildProcess server = start_server(stress, log);
  const auto process = make_process(directory_);
  const auto host = process->create_host("client").value();
  host->run_program([&] {
    auto client = engine::Client::connect(*host, {.host = "server", .service = 7}, {}).value();
    const std::array<std::byte, 1> key{std::byte{1}};
    ASSERT_EQ(client->set(key, key).answer, engine::Answer::stored);
    server.send_signal(SIGSTOP);
    const std::uint64_t resume_ns = host->now_ns() + 3 * stress.heartbeat_timeout_ns;
    while (host->now_ns() < resume_ns) {
      ASSERT_EQ(client->get(key).answer, engine::Answer::found);
      host->sleep_until(host->now_ns() + 1'000'000);
    }
    server.send_signal(SIGCONT);
    host->sleep_until(host->now_ns() + stress.heartbeat_timeout_ns);
    for (int count = 0; count < 50; ++count) {  // needs additional regions
      ASSERT_EQ(client->set(key, std::array<std::byte, 200>{}).answer, engine::Answer::stored);
    }
    client->disconnect();
  });
  log.flags().clients_are_done.store(true);
  expect_success(server);
}

// The successor waits for the server process to end, as any supervisor does. Clients may detect the
// end before the system releases the server's lock.
TEST_F(RealHistoriesTest, OfAServerThatIsKilled) {
  const Stress stress = small_store();
  SharedLog first(100);
  SharedLog second(100);
  ChildProcess server = start_server(stress, first);
  ChildProcess successor = start([&](shm::Process& process) {
    while (!second.flags().server_may_start) std::this_thread::sleep_for(1ms);
    return serve(process, stress, second);
  });
  {
    const auto process = make_process(directory_);
    const auto host = process->create_host("client").value();
    host->run_program([&] {
      const fabric::Address address{.host = "server", .service = 7};
      const engine::ClientOptions options{.server_timeout_ns = hang_limit_ns};
      auto client = engine::Client::connect(*host, address, options).value();
      const std::uint64_t incarnation = client->server_incarnation();
      expect_disconnection(*client, server);
      EXPECT_EQ(engine::Client::connect(*host, address, {}).error().code,
                fabric::ErrorCode::unreachable);
      server.wait();
      second.flags().server_may_start.store(true);
      ASSERT_TRUE(comes_up(successor, second));
      client = engine::Client::connect(*host, address, {}).value();
      EXPECT_NE(client->server_incarnation(), incarnation);
      const std::array<std::byte, 1> key{std::byte{1}};
      EXPECT_EQ(client->get(key).answer, engine::Answer::not_found) << "it is empty";
      client->disconnect();
    });
  }
  second.flags().clients_are_done.store(true);
  expect_success(successor);
}

// Accepts one connection, reads its request, and ends.
void listen_and_leave(const std::filesystem::path& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
  const int listener = ::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
  ASSERT_EQ(::bind(listener, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  ASSERT_EQ(::listen(listener, 1), 0);
  const int connection = ::accept(listener, nullptr, nullptr);
  std::array<char, 4096> heard{};
  EXPECT_GT(::recv(connection, heard.data(), heard.size(), 0), 0);
  ::close(connection);
  ::close(listener);
}

TEST_F(RealHistoriesTest, OfAServerThatIsGoneBeforeItAnswers) {
  const std::filesystem::path socket = directory_ / "server" / "7";
  std::filesystem::create_directories(socket.parent_path());
  const std::jthread server([&] { listen_and_leave(socket); });
  while (!std::filesystem::exists(socket)) std::this_thread::sleep_for(1ms);
  const auto process = make_process(directory_);
  const auto host = process->create_host("client").value();
  host->run_program([&] {
    // The socket may exist before the server listens.
    for (;;) {
      const auto client = engine::Client::connect(*host, {.host = "server", .service = 7}, {});
      ASSERT_FALSE(client.has_value());
      if (client.error().code != fabric::ErrorCode::unreachable) {
        FAIL() << to_string(client.error().code) << ": " << client.error().detail;
      }
      if (client.error().detail.find("before it answered") != std::string::npos) return;
    }
  });
}

}  // namespace
}  // namespace falafel::shm_test
