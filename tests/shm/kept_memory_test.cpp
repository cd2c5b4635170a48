// Memory that outlives its process, with the peers of that process still running.
#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "fabric/realtime/kept_file.h"
#include "fabric/realtime/kept_gates.h"
#include "fabric/shm/process.h"
#include "processes/child_process.h"
#include "tests/hang_limit.h"

namespace falafel::shm_test {
namespace {

using namespace std::chrono_literals;
using processes::ChildProcess;

constexpr std::uint16_t kept_service = 7;
constexpr std::uint64_t kept_bytes = std::uint64_t{4} << 20U;
constexpr fabric::Access everything{
    .local_write = true, .remote_read = true, .remote_write = true, .remote_atomic = true};

// A host's device with what a connection needs.
struct Station {
  explicit Station(fabric::Host& owner) : host(owner) {
    domain = host.device(0).create_protection_domain();
    completions = host.device(0).create_completion_queue(64).value();
  }
  fabric::QueuePairOptions options() const {
    return {.protection_domain = domain.get(),
            .send_completions = completions.get(),
            .receive_completions = completions.get()};
  }
  fabric::CompletionStatus execute(fabric::QueuePair& queue_pair,
                                   const fabric::WorkRequest& request) const {
    EXPECT_TRUE(queue_pair.post_send({&request, 1}).has_value());
    fabric::WorkCompletion completion;
    while (completions->poll({&completion, 1}) == 0) completions->wait(fabric::never_ns);
    return completion.status;
  }

  fabric::Host& host;
  std::unique_ptr<fabric::ProtectionDomain> domain;
  std::unique_ptr<fabric::CompletionQueue> completions;
};

class KeptMemoryOfProcessTest : public testing::Test {
 protected:
  KeptMemoryOfProcessTest() {
    std::string name = (std::filesystem::temp_directory_path() / "falafel.XXXXXX").native();
    directory_ = ::mkdtemp(name.data());
    path_ = (directory_ / "memory").native();
  }
  ~KeptMemoryOfProcessTest() override {
    client_.reset();
    server_.reset();
    std::filesystem::remove_all(directory_);
  }

  void run_host(const std::string& name, const std::function<void(fabric::Host&)>& body) const {
    const auto process =
        shm::Process::create({.directory = directory_, .memory_limit_bytes = 64U << 20U}).value();
    const auto host = process->create_host(name).value();
    host->run_program([&] { body(*host); });
  }
  // Starts a process that keeps the memory and accepts all clients; returns once it listens.
  void start_server() {
    server_ = std::make_unique<ChildProcess>([this] {
      run_host("server", [&](fabric::Host& host) {
        const Station station(host);
        const auto kept = host.keep_memory(path_, kept_bytes).value();
        const auto region =
            station.domain->register_memory(kept.block, 0, kept_bytes, everything).value();
        const auto listener = host.device(0).listen(kept_service).value();
        std::vector<std::unique_ptr<fabric::QueuePair>> accepted;
        for (;;) {
          const auto request = listener->accept(fabric::never_ns);
          const std::uint32_t key = region->remote_key();
          const auto bytes = std::as_bytes(std::span(&key, 1));
          accepted.push_back(
              request->accept(station.options(), {bytes.begin(), bytes.end()}).value());
        }
      });
      return EXIT_SUCCESS;
    });
    while (!std::filesystem::exists(directory_ / "server" / std::to_string(kept_service))) {
      std::this_thread::sleep_for(1ms);
    }
  }
  // Starts a client that writes to all of the memory, again and again until a request fails. It
  // then waits for its end.
  void start_client() {
    client_ = std::make_unique<ChildProcess>([this] {
      run_host("client", [&](fabric::Host& host) {
        const Station station(host);
        const auto block = host.allocate_memory(kept_bytes).value();
        const auto region =
            station.domain->register_memory(block, 0, kept_bytes, everything).value();
        const auto connect = [&] {
          return host.device(0).connect({.host = "server", .service = kept_service},
                                        station.options(), {}, host.now_ns() + hang_limit_ns);
        };
        auto connection = connect();
        while (!connection) connection = connect();
        fabric::WorkRequest request;
        request.opcode = fabric::Opcode::write;
        request.length_bytes = kept_bytes;
        request.local = {region->local_key(), 0};
        std::memcpy(&request.remote.key, connection->private_data.data(), sizeof(std::uint32_t));
        do {
          for (std::uint64_t offset = 0; offset < kept_bytes; offset += 8) {
            block->bytes()[offset] = static_cast<std::byte>(host.random(255) + 1);
          }
        } while (station.execute(*connection->queue_pair, request) ==
                 fabric::CompletionStatus::success);
        host.sleep_until(fabric::never_ns);
      });
      return EXIT_SUCCESS;
    });
  }
  // Starts a process that accepts one client, and closes the connection once that has written.
  void start_server_that_closes() {
    server_ = std::make_unique<ChildProcess>([this] {
      run_host("server", [&](fabric::Host& host) {
        const Station station(host);
        const auto kept = host.keep_memory(path_, kept_bytes).value();
        const auto region =
            station.domain->register_memory(kept.block, 0, kept_bytes, everything).value();
        const auto listener = host.device(0).listen(kept_service).value();
        const std::uint32_t key = region->remote_key();
        const auto bytes = std::as_bytes(std::span(&key, 1));
        const auto accepted = listener->accept(fabric::never_ns)
                                  ->accept(station.options(), {bytes.begin(), bytes.end()})
                                  .value();
        while (kept.block->load(0) == 0) host.sleep_until(host.now_ns() + 1'000'000);
        accepted->close();
        host.sleep_until(fabric::never_ns);
      });
      return EXIT_SUCCESS;
    });
  }
  void stop_client() const {
    client_->send_signal(SIGSTOP);
    ::waitpid(client_->id(), nullptr, WUNTRACED);
  }
  // The state of the only client as the file tells it.
  enum class Client { unknown, idle, busy };
  Client look_at_client() const {
    const fabric::FileDescriptor file(::open(path_.c_str(), O_RDONLY | O_CLOEXEC));
    const std::uint64_t length = fabric::KeptFile::gates_offset + 4'096;
    void* const head = ::mmap(nullptr, length, PROT_READ, MAP_SHARED, file.get(), 0);
    const auto& gate = *reinterpret_cast<const fabric::Gate*>(static_cast<const std::byte*>(head) +
                                                              fabric::KeptFile::gates_offset);
    const bool is_known = gate.pass.load() != 0;
    const bool is_busy = gate.peer_is_busy.load() != 0;
    ::munmap(head, length);
    return !is_known ? Client::unknown : is_busy ? Client::busy : Client::idle;
  }
  void stop_client_when(Client wanted) const {
    while (look_at_client() == Client::unknown) std::this_thread::sleep_for(1ms);
    for (;;) {
      std::this_thread::sleep_for(1ms);
      stop_client();
      if (look_at_client() == wanted) return;
      client_->send_signal(SIGCONT);
    }
  }
  void kill_server() const {
    server_->kill();
    server_->wait();
  }
  // Keeps the memory and lets the client go on; returns whether it changes nothing any more.
  void expect_client_out_of_reach(fabric::Host& host) const {
    const auto kept = host.keep_memory(path_, kept_bytes);
    ASSERT_TRUE(kept.has_value()) << kept.error().detail;
    EXPECT_FALSE(kept->is_new);
    const auto bytes = kept->block->bytes();
    const std::vector<std::byte> before(bytes.begin(), bytes.end());
    client_->send_signal(SIGCONT);
    host.sleep_until(host.now_ns() + 50'000'000);
    EXPECT_TRUE(std::ranges::equal(before, bytes));
  }

  std::filesystem::path directory_;
  std::string path_;
  std::unique_ptr<ChildProcess> server_;
  std::unique_ptr<ChildProcess> client_;
};

TEST_F(KeptMemoryOfProcessTest, IsFreeAsSoonAsTheProcessHasEnded) {
  start_server();
  const auto expect_in_use = [&] {
    run_host("other", [&](fabric::Host& host) {
      const auto refused = host.keep_memory(path_, kept_bytes);
      ASSERT_FALSE(refused.has_value());
      EXPECT_EQ(refused.error().code, fabric::ErrorCode::address_in_use) << refused.error().detail;
    });
  };
  expect_in_use();
  server_->send_signal(SIGSTOP);
  expect_in_use();
  for (int round = 0; round < 5; ++round) {
    kill_server();
    run_host("other", [&](fabric::Host& host) {
      const auto kept = host.keep_memory(path_, kept_bytes);
      ASSERT_TRUE(kept.has_value()) << kept.error().detail;
      EXPECT_EQ(kept->block->load(0), static_cast<std::uint64_t>(round));
      kept->block->store(0, kept->block->load(0) + 1);
    });
    start_server();
  }
}

TEST_F(KeptMemoryOfProcessTest, IsOutOfReachForAFormerClientBetweenTwoRequests) {
  start_server();
  start_client();
  stop_client_when(Client::idle);
  kill_server();
  run_host("server", [&](fabric::Host& host) { expect_client_out_of_reach(host); });
}

// The client overwrites all bytes again and again.
TEST_F(KeptMemoryOfProcessTest, ServesOnUntilTheNextProcessKeepsIt) {
  start_server();
  start_client();
  const fabric::FileDescriptor file(::open(path_.c_str(), O_RDONLY | O_CLOEXEC));
  const auto first_byte = [&] {
    std::byte byte{};
    EXPECT_EQ(::pread(file.get(), &byte, 1, fabric::KeptFile::block_offset), 1);
    return byte;
  };
  // The client is connected once it has written.
  while (first_byte() == std::byte{0}) std::this_thread::sleep_for(1ms);
  kill_server();
  for (int change = 0; change < 5; ++change) {
    const std::byte before = first_byte();
    while (first_byte() == before) std::this_thread::sleep_for(1ms);
  }
  run_host("server", [&](fabric::Host& host) { expect_client_out_of_reach(host); });
}

// A client of other memory would wait for an answer until its time-outs are over.
TEST_F(KeptMemoryOfProcessTest, BreaksAtOnceWhenTheProcessCloses) {
  start_server_that_closes();
  run_host("client", [&](fabric::Host& host) {
    const Station station(host);
    const auto block = host.allocate_memory(8).value();
    const auto region = station.domain->register_memory(block, 0, 8, everything).value();
    fabric::QueuePairOptions options = station.options();
    options.acknowledge_timeout_ns = 100 * hang_limit_ns;
    const auto connect = [&] {
      return host.device(0).connect({.host = "server", .service = kept_service}, options, {},
                                    host.now_ns() + hang_limit_ns);
    };
    auto connection = connect();
    while (!connection) connection = connect();
    block->store(0, 1);
    fabric::WorkRequest request;
    request.opcode = fabric::Opcode::write;
    request.length_bytes = 8;
    request.local = {region->local_key(), 0};
    std::memcpy(&request.remote.key, connection->private_data.data(), sizeof(std::uint32_t));
    fabric::CompletionStatus status = fabric::CompletionStatus::success;
    while (status == fabric::CompletionStatus::success) {
      status = station.execute(*connection->queue_pair, request);
    }
    EXPECT_EQ(status, fabric::CompletionStatus::retry_exceeded);
  });
}

TEST_F(KeptMemoryOfProcessTest, WaitsForAFormerClientInTheMiddleOfACopy) {
  start_server();
  start_client();
  stop_client_when(Client::busy);
  kill_server();
  std::thread releases;
  run_host("server", [&](fabric::Host& host) {
    // The client is stopped, so this fails, and names it.
    const auto refused = host.keep_memory(path_, kept_bytes);
    ASSERT_FALSE(refused.has_value());
    EXPECT_EQ(refused.error().code, fabric::ErrorCode::address_in_use);
    EXPECT_NE(refused.error().detail.find(fmt::format("process {} ", client_->id())),
              std::string::npos)
        << refused.error().detail;
    releases = std::thread([&] {
      std::this_thread::sleep_for(20ms);
      client_->send_signal(SIGCONT);
    });
    expect_client_out_of_reach(host);
  });
  releases.join();
}

TEST_F(KeptMemoryOfProcessTest, DoesNotWaitForAFormerClientThatHasEndedInACopy) {
  start_server();
  start_client();
  stop_client_when(Client::busy);
  kill_server();
  client_->kill();
  client_->wait();
  run_host("server", [&](fabric::Host& host) {
    EXPECT_TRUE(host.keep_memory(path_, kept_bytes).has_value());
  });
}

}  // namespace
}  // namespace falafel::shm_test
