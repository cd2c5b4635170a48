#include "tests/stores/load/shared_memory.h"

#include <unistd.h>

#include <chrono>
#include <thread>
#include <vector>

namespace falafel::stores_test {

SharedMemory::SharedMemory() {
  std::string name = (std::filesystem::temp_directory_path() / "falafel.XXXXXX").native();
  folder_ = ::mkdtemp(name.data());
  process_ =
      shm::Process::create({.directory = folder_, .memory_limit_bytes = std::uint64_t{1} << 28U})
          .value();
}

SharedMemory::~SharedMemory() {
  process_.reset();
  std::filesystem::remove_all(folder_);
}

void SharedMemory::run_program(const std::string& host_name, const ServerBody& body) {
  const auto host = process_->create_host(host_name).value();
  host->run_program([&] { body(*host); });
}

void SharedMemory::run(const ServerBody& serve, const ClientBody& work) {
  working_ = clients;
  {
    std::vector<std::jthread> threads;
    threads.emplace_back([&] { run_program("server", serve); });
    for (std::uint32_t number = 0; number < clients; ++number) {
      threads.emplace_back([&, number] {
        while (!is_up_) std::this_thread::sleep_for(std::chrono::milliseconds(1));
        run_program("client", [&](fabric::Host& host) { work(host, number); });
        --working_;
      });
    }
  }
  judge();
}

void SharedMemory::run_peers(const ClientBody& work) {
  {
    std::vector<std::jthread> threads;
    for (std::uint32_t number = 0; number < clients; ++number) {
      threads.emplace_back([&, number] {
        run_program("peer-" + std::to_string(number),
                    [&](fabric::Host& host) { work(host, number); });
      });
    }
  }
  judge();
}

void SharedMemory::serve_clients(fabric::Host& host) {
  is_up_ = true;
  while (working_ > 0) host.sleep_until(host.now_ns() + millisecond_ns);
}

void SharedMemory::meet(fabric::Host& host) {
  const std::uint32_t everyone = (arrivals_++ / clients + 1) * clients;
  while (arrivals_ < everyone) host.sleep_until(host.now_ns() + millisecond_ns);
}

void SharedMemory::operate(fabric::Host& host, AnyClient&& client, std::uint32_t number) {
  Load load = load_;
  load.client = number;
  const Tally tally = run_random_operations(host, client, load, history_);
  for (const auto& [answer, count] : tally.answers) {
    EXPECT_TRUE(expected_answers_.contains(answer))
        << count << " operations answered " << to_string(answer);
  }
  EXPECT_EQ(tally.given_up, 0U);
  const std::lock_guard lock(mutex_);
  tally_ += tally;
}

void SharedMemory::judge() {
  const checkers::Judgement judgement = history_.judge();
  EXPECT_EQ(judgement.verdict, checkers::Verdict::holds) << judgement.explanation;
}

}  // namespace falafel::stores_test
