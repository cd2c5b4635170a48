// Troost's store over TCP, with real threads: the histories of several clients on few keys are
// linearizable, whether threads poll or block.
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "fabric/stream/host.h"
#include "stores/two_sided/client.h"
#include "stores/two_sided/invariants.h"
#include "stores/two_sided/server.h"
#include "tests/hang_limit.h"
#include "tests/stores/load/random_operations.h"
#include "tests/stores/load/shared_history.h"
#include "tests/stream/service_files.h"

namespace falafel::two_sided_test {
namespace {

using two_sided::Answer;
using two_sided::Client;
using two_sided::Server;

constexpr std::uint32_t clients = 3;

class TwoSidedOverTcp : public testing::Test {
 protected:
  TwoSidedOverTcp() {
    std::string name = (std::filesystem::temp_directory_path() / "falafel.XXXXXX").native();
    folder_ = ::mkdtemp(name.data());
  }
  ~TwoSidedOverTcp() override { std::filesystem::remove_all(folder_); }

  // There may be more threads that poll than processors. Operations then take several time slices.
  void run(two_sided::Waiting waiting, int operations) {
    operations_ = operations;
    two_sided::Options options;
    options.safeguards = two_sided::Safeguards::hardened();
    options.transport = fabric::Transport::message_stream;
    options.waiting = waiting;
    options.buckets = 2;
    options.max_clients = clients;
    options.close_timeout_ns = hang_limit_ns;
    stream_test::ServiceFiles services(folder_);
    run_threads(services, options);
    const checkers::Judgement judgement = history_.judge();
    EXPECT_EQ(judgement.verdict, checkers::Verdict::holds) << judgement.explanation;
    EXPECT_EQ(history_.size(), std::size_t{clients} * static_cast<std::size_t>(operations));
    EXPECT_EQ(requests_, history_.size() + clients);
  }

 private:
  void run_threads(stream_test::ServiceFiles& services, const two_sided::Options& options) {
    working_ = clients;
    std::vector<std::jthread> threads;
    threads.emplace_back([&] {
      const auto host = create_host(services, "server");
      host->run_program([&] { serve(*host, options); });
    });
    for (std::uint32_t number = 0; number < clients; ++number) {
      threads.emplace_back([&, number] {
        while (!is_up_) std::this_thread::sleep_for(std::chrono::milliseconds(1));
        const auto host = create_host(services, "client-" + std::to_string(number));
        host->run_program([&] { work(*host, options, number); });
        --working_;
      });
    }
  }

  static std::unique_ptr<fabric::RealTimeHost> create_host(stream_test::ServiceFiles& services,
                                                           const std::string& name) {
    return stream::create_host(
        {.name = name, .listening_address = "127.0.0.1", .services = &services});
  }

  void serve(fabric::Host& host, const two_sided::Options& options) {
    const auto server = Server::start(host, options).value();
    is_up_ = true;
    while (working_ > 0) host.sleep_until(host.now_ns() + stores_test::millisecond_ns);
    const two_sided::ServerInspection inspection = server->inspect();
    EXPECT_EQ(two_sided::find_problems(inspection), std::vector<std::string>());
    requests_ = inspection.statistics.requests;
  }

  void work(fabric::Host& host, const two_sided::Options& options, std::uint32_t number) {
    auto client = Client::connect(host, {.host = "server", .service = options.service}, options);
    ASSERT_TRUE(client) << client.error().detail;
    stores_test::ServedClient any_client(**client);
    const auto tally = stores_test::run_random_operations(
        host, any_client, {.client = number, .operations = operations_}, history_);
    for (const auto& [answer, count] : tally.answers) {
      EXPECT_TRUE(answer == Answer::found || answer == Answer::not_found ||
                  answer == Answer::stored || answer == Answer::deleted)
          << count << " operations answered " << to_string(answer);
    }
    EXPECT_EQ((*client)->close().answer, Answer::deleted);
  }

  std::filesystem::path folder_;
  stores_test::SharedHistory history_;
  int operations_ = 0;  // of each client
  std::atomic<bool> is_up_ = false;
  std::atomic<std::uint32_t> working_ = 0;
  std::uint64_t requests_ = 0;
};

TEST_F(TwoSidedOverTcp, PollingThreadsAreLinearizable) { run(two_sided::Waiting::polling, 150); }

TEST_F(TwoSidedOverTcp, BlockingThreadsAreLinearizable) {
  run(two_sided::Waiting::blocking, 1'500);
}

}  // namespace
}  // namespace falafel::two_sided_test
