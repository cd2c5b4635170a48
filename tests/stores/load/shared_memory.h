// A store on shared memory, with real threads: one for the server, and one for each client. Their
// history must be linearizable.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>

#include "fabric/shm/process.h"
#include "tests/stores/load/any_client.h"
#include "tests/stores/load/random_operations.h"
#include "tests/stores/load/shared_history.h"

namespace falafel::stores_test {

class SharedMemory : public testing::Test {
 protected:
  static constexpr std::uint32_t clients = 3;

  SharedMemory();
  ~SharedMemory() override;

  using ServerBody = std::function<void(fabric::Host&)>;
  using ClientBody = std::function<void(fabric::Host&, std::uint32_t number)>;

  // Runs the server on host "server", and the clients when it calls serve_clients().
  void run(const ServerBody& serve, const ClientBody& work);
  // Runs peers "peer-0", "peer-1", ..., each of which is server and client.
  void run_peers(const ClientBody& work);

  // Waits until all clients have finished.
  void serve_clients(fabric::Host& host);
  // Waits until all peers have called it. They may meet several times.
  void meet(fabric::Host& host);

  // The operations of a client. Answers other than expected_answers_ are failures.
  void operate(fabric::Host& host, AnyClient&& client, std::uint32_t number);

  std::set<Answer> expected_answers_{Answer::found, Answer::not_found, Answer::stored,
                                     Answer::deleted};
  std::mutex mutex_;  // of what the bodies share
  Tally tally_;       // of all clients
  Load load_;         // of each client, apart from its number

 private:
  void run_program(const std::string& host_name, const ServerBody& body);
  void judge();

  std::filesystem::path folder_;
  std::unique_ptr<shm::Process> process_;
  SharedHistory history_;
  std::atomic<bool> is_up_ = false;
  std::atomic<std::uint32_t> working_ = 0;
  std::atomic<std::uint32_t> arrivals_ = 0;  // of peers at their meetings
};

}  // namespace falafel::stores_test
