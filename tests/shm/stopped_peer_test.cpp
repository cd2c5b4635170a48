// The effects of a stopped, killed or silent process on processes that are connected to it or were
// about to connect.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <boost/asio/post.hpp>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <thread>

#include "engine/layout/control_message.h"
#include "engine/local_memory.h"
#include "fabric/shm/connector.h"
#include "fabric/shm/handshake.h"
#include "fabric/shm/host.h"
#include "fabric/shm/process.h"
#include "fabric/shm/socket.h"
#include "fabric/time_units.h"
#include "processes/child_process.h"
#include "tests/hang_limit.h"
#include "tests/store/limited_memory.h"

namespace falafel::shm_test {
namespace {

using namespace std::chrono_literals;
using fabric::Access;
using processes::ChildProcess;

constexpr std::uint16_t service = 7;
constexpr std::uint64_t mebibyte = 1 << 20;
using fabric::second_ns;
constexpr std::uint64_t memory_limit_bytes = 64 * mebibyte;
constexpr std::uint64_t target_bytes = 4 * mebibyte;  // size of the memory that peers write to

// Flags that the processes of a test share.
class Signals {
 public:
  Signals()
      : memory_(::mmap(nullptr, sizeof(std::atomic<int>), PROT_READ | PROT_WRITE,
                       MAP_SHARED | MAP_ANONYMOUS, -1, 0)) {}
  ~Signals() { ::munmap(memory_, sizeof(std::atomic<int>)); }
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

  std::atomic<int>& count() { return *static_cast<std::atomic<int>*>(memory_); }
  void await(int count_wanted) {
    while (count() < count_wanted) std::this_thread::sleep_for(1ms);
  }

 private:
  void* memory_;
};

// A queue pair on a host with everything it needs.
struct Party {
  explicit Party(fabric::Host& owner) : host(owner), device(owner.device(0)) {
    domain = device.create_protection_domain();
    completions = device.create_completion_queue(64).value();
    local = engine::allocate_local_memory(host, *domain, target_bytes).value();
  }
  fabric::QueuePairOptions options() const {
    return {.protection_domain = domain.get(),
            .send_completions = completions.get(),
            .receive_completions = completions.get()};
  }
  void post_receive() {
    const fabric::ReceiveRequest request{.id = 1, .local = local.at(0), .length_bytes = 8};
    EXPECT_TRUE(queue_pair->post_receive({&request, 1}).has_value());
  }
  std::optional<fabric::WorkCompletion> next_completion(std::uint64_t patience_ns) {
    fabric::WorkCompletion completion;
    if (!completions->wait(host.now_ns() + patience_ns)) return std::nullopt;
    return completions->poll({&completion, 1}) == 1 ? std::optional(completion) : std::nullopt;
  }

  fabric::Host& host;
  fabric::Device& device;
  std::unique_ptr<fabric::ProtectionDomain> domain;
  std::unique_ptr<fabric::CompletionQueue> completions;
  engine::LocalMemory local;
  std::unique_ptr<fabric::QueuePair> queue_pair;
};

// A party that others connect to, with a target that they may write to.
struct Responder : Party {
  explicit Responder(fabric::Host& owner) : Party(owner) {
    target = host.allocate_memory(target_bytes).value();
    region =
        domain
            ->register_memory(target, 0, target_bytes, {.local_write = true, .remote_write = true})
            .value();
    listener = device.listen(service).value();
  }
  void accept() {
    const auto request = listener->accept(host.now_ns() + hang_limit_ns);
    ASSERT_NE(request, nullptr);
    auto accepted = request->accept(options(), engine::to_bytes(region->remote_key()));
    ASSERT_TRUE(accepted.has_value()) << accepted.error().detail;
    queue_pair = std::move(*accepted);
    post_receive();
  }

  std::shared_ptr<fabric::MemoryBlock> target;
  std::unique_ptr<fabric::MemoryRegion> region;
  std::unique_ptr<fabric::Listener> listener;
};

fabric::Result<fabric::Connection> connect(Party& party) {
  return party.device.connect({.host = "responder", .service = service}, party.options(), {},
                              party.host.now_ns() + hang_limit_ns);
}

class StoppedPeerTest : public testing::Test {
 protected:
  StoppedPeerTest() {
    std::string name = (std::filesystem::temp_directory_path() / "falafel.XXXXXX").native();
    directory_ = ::mkdtemp(name.data());
  }
  ~StoppedPeerTest() override {
    processes_.clear();
    std::filesystem::remove_all(directory_);
  }

  std::unique_ptr<shm::Process> create_process() const {
    return shm::Process::create({.directory = directory_, .memory_limit_bytes = memory_limit_bytes})
        .value();
  }
  // Starts a separate process; this process has no threads at that time.
  ChildProcess& start(const std::function<void()>& task) {
    const auto run = [&] {
      task();
      return EXIT_SUCCESS;
    };
    return *processes_.emplace_back(std::make_unique<ChildProcess>(run));
  }
  // Starts a process that calls `wait`, connects as soon as there is a listener, and runs `body`.
  ChildProcess& start_requester(
      const std::function<void(Party&, std::uint32_t)>& body,
      const std::function<void()>& wait = [] {}) {
    return start([this, body, wait] {
      wait();
      const auto process = create_process();
      const auto host = process->create_host("requester").value();
      host->run_program([&] {
        Party party(*host);
        for (;;) {
          auto connection = connect(party);
          if (!connection) continue;
          party.queue_pair = std::move(connection->queue_pair);
          return body(party, *engine::from_bytes<std::uint32_t>(connection->private_data));
        }
      });
    });
  }
  // Runs `body` on a host that others connect to.
  void respond(const std::function<void(Responder&)>& body) const {
    const auto process = create_process();
    const auto host = process->create_host("responder").value();
    host->run_program([&] {
      Responder responder(*host);
      body(responder);
    });
  }

  std::filesystem::path directory_;
  std::vector<std::unique_ptr<ChildProcess>> processes_;  // still running
};

// Spends most of the time in the middle of a copy.
[[noreturn]] void write_for_ever(Party& party, std::uint32_t remote_key, Signals& begun) {
  for (;;) {
    fabric::WorkRequest request;
    request.opcode = fabric::Opcode::write;
    request.length_bytes = target_bytes;
    request.local = party.local.at(0);
    request.remote = {remote_key, 0};
    if (!party.queue_pair->post_send({&request, 1})) std::abort();
    while (!party.next_completion(fabric::never_ns)) {
    }
    begun.count().store(1);
  }
}

// Fences a peer that is stopped in the middle of a copy; returns false if it was stopped between
// two copies. This process alone then flushes the queue pair, which takes it microseconds.
bool is_stopped_in_a_copy(Responder& responder, ChildProcess& peer, Signals& begun) {
  begun.await(1);
  peer.send_signal(SIGSTOP);
  ::waitpid(peer.id(), nullptr, WUNTRACED);
  responder.queue_pair->move_to_error();
  return !responder.next_completion(2 * second_ns).has_value();
}

class PeerInACopyTest : public StoppedPeerTest {
 protected:
  // Runs `body` while a peer is stopped in the middle of a copy, for which it takes some attempts.
  void run(const std::function<void(Responder&, ChildProcess&)>& body) {
    bool was_in_a_copy = false;
    for (int attempt = 0; attempt < 20 && !was_in_a_copy; ++attempt) {
      Signals begun;
      ChildProcess& peer = start_requester([&](Party& party, std::uint32_t remote_key) {
        write_for_ever(party, remote_key, begun);
      });
      respond([&](Responder& responder) {
        responder.accept();
        was_in_a_copy = is_stopped_in_a_copy(responder, peer, begun);
        if (was_in_a_copy) body(responder, peer);
      });
      peer.kill();
      peer.wait();
    }
    EXPECT_TRUE(was_in_a_copy);
  }
};

void expect_memory_out_of_reach(Responder& responder) {
  const std::byte* const in_reach = responder.target->bytes().data();
  responder.region.reset();
  responder.target.reset();
  for (int round = 0; round < 8; ++round) {
    const auto other = responder.host.allocate_memory(memory_limit_bytes / 2);
    ASSERT_TRUE(other.has_value()) << "round " << round << ": " << other.error().detail;
    const std::byte* const begin = (*other)->bytes().data();
    EXPECT_FALSE(begin <= in_reach && in_reach < begin + memory_limit_bytes / 2);
  }
}

TEST_F(PeerInACopyTest, KeepsThatMemoryAndNoOther) {
  run([](Responder& responder, ChildProcess&) {
    responder.queue_pair.reset();
    expect_memory_out_of_reach(responder);
  });
}

TEST_F(PeerInACopyTest, DelaysNoCloseWithoutMemory) {
  run([](Responder& responder, ChildProcess&) {
    {
      const server_program::Limit limit(0, true);
      responder.queue_pair.reset();
    }
    expect_memory_out_of_reach(responder);
  });
}

// The request cannot wait, so it is flushed, but not before the peer has left the memory.
TEST_F(PeerInACopyTest, DelaysNoPostWithoutMemory) {
  run([](Responder& responder, ChildProcess& peer) {
    fabric::WorkRequest request;
    request.id = 2;
    request.opcode = fabric::Opcode::send;
    request.local = responder.local.at(0);
    request.length_bytes = fabric::word_bytes;
    bool is_accepted = false;
    {
      const server_program::Limit limit(0, true);
      is_accepted = responder.queue_pair->post_send({&request, 1}).has_value();
    }
    EXPECT_TRUE(server_program::Limit::was_felt());
    EXPECT_TRUE(is_accepted);
    EXPECT_FALSE(responder.next_completion(0).has_value());
    peer.send_signal(SIGCONT);
    for (const std::uint64_t id : {2U, 1U}) {
      const auto flushed = responder.next_completion(hang_limit_ns);
      ASSERT_TRUE(flushed.has_value());
      EXPECT_EQ(flushed->id, id);
      EXPECT_EQ(flushed->status, fabric::CompletionStatus::flushed);
    }
  });
}

TEST_F(StoppedPeerTest, ThatIsKilledIsMissedAlthoughAChildHasItsSocket) {
  Signals ready;
  ChildProcess& peer = start_requester([&](Party&, std::uint32_t) {
    const ChildProcess child([]() -> int {
      for (;;) ::pause();
    });
    ready.count().store(child.id());
    for (;;) ::pause();
  });
  respond([&](Responder& responder) {
    responder.accept();
    ready.await(1);
    peer.kill();
    peer.wait();
    const auto completion = responder.next_completion(hang_limit_ns);
    ASSERT_TRUE(completion.has_value()) << "its end is not noticed";
    EXPECT_EQ(completion->status, fabric::CompletionStatus::flushed);
  });
  ::kill(ready.count(), SIGKILL);
}

// Writes one word to the peer.
fabric::CompletionStatus write_word(Party& party, std::uint32_t remote_key) {
  fabric::WorkRequest request;
  request.opcode = fabric::Opcode::write;
  request.length_bytes = fabric::word_bytes;
  request.local = party.local.at(0);
  request.remote = {remote_key, 0};
  EXPECT_TRUE(party.queue_pair->post_send({&request, 1}).has_value());
  const auto completion = party.next_completion(hang_limit_ns);
  return completion ? completion->status : fabric::CompletionStatus::success;
}

// Its memory is still mapped, but another process may already serve in its place. The thread that
// hears of its end is late.
TEST_F(StoppedPeerTest, ThatHasEndedAnswersNoMore) {
  ChildProcess& peer = start([&] {
    respond([](Responder& responder) {
      responder.accept();
      for (;;) ::pause();
    });
  });
  const auto process = create_process();
  const auto host = process->create_host("requester").value();
  std::promise<void> is_over;
  host->run_program([&] {
    Party party(*host);
    auto connection = connect(party);
    while (!connection) connection = connect(party);
    party.queue_pair = std::move(connection->queue_pair);
    const auto key = *engine::from_bytes<std::uint32_t>(connection->private_data);
    EXPECT_EQ(write_word(party, key), fabric::CompletionStatus::success);
    std::promise<void> is_held_up;
    boost::asio::post(dynamic_cast<shm::Host&>(*host).process().context(), [&] {
      is_held_up.set_value();
      is_over.get_future().wait();
    });
    is_held_up.get_future().wait();
    peer.kill();
    peer.wait();
    EXPECT_EQ(write_word(party, key), fabric::CompletionStatus::retry_exceeded);
    is_over.set_value();
  });
}

// Connects without sending anything.
std::vector<shm::FileDescriptor> connect_silently(const std::filesystem::path& path, int count) {
  std::vector<shm::FileDescriptor> sockets;
  while (static_cast<int>(sockets.size()) < count) {
    auto socket = shm::connect_to(path);
    if (!socket) {  // the system's queue is full
      std::this_thread::sleep_for(1ms);
      continue;
    }
    sockets.push_back(std::move(*socket));
  }
  return sockets;
}

TEST_F(StoppedPeerTest, InTheMiddleOfConnectingKeepsNobodyOut) {
  constexpr int silent_callers = 300;
  Signals silent;
  const auto path = shm::socket_path(directory_, "responder", service);
  start([&] {
    while (!std::filesystem::exists(path)) std::this_thread::sleep_for(1ms);
    const auto sockets = connect_silently(path, silent_callers);
    silent.count().store(1);
    for (;;) ::pause();
  });
  start_requester(
      [&](Party&, std::uint32_t) {
        silent.count().store(2);
        for (;;) ::pause();
      },
      [&] { silent.await(1); });
  ChildProcess& responder = start([&] {
    const rlimit few{.rlim_cur = 100, .rlim_max = 100};
    ::setrlimit(RLIMIT_NOFILE, &few);
    respond([&](Responder& party) {
      party.accept();
      for (;;) party.host.sleep_until(fabric::never_ns);
    });
  });
  silent.await(2);
  EXPECT_FALSE(responder.poll()) << "it has ended";
}

// Callers that break the rules

// The shared memory of a caller, with an endpoint.
struct MemoryOfCaller {
  std::unique_ptr<shm::Arena> arena = shm::Arena::create(mebibyte, false, {1, 2}).value();
  std::uint64_t place = arena->allocate(4'096).value();
  shm::Endpoint& endpoint = arena->mapping()->object_at<shm::Endpoint>(place);

  MemoryOfCaller() {
    endpoint.wake_word = shm::wake_word_table_offset;
    endpoint.gate = place + offsetof(shm::Endpoint, own_gate);
  }
};

// Connects with a message that describes memory of the test's choice, and returns the answer.
shm::ReceivedMessage call(const std::filesystem::path& path, const shm::ArenaId& id,
                          const shm::FileDescriptor& memory, std::uint64_t endpoint) {
  const auto socket = shm::connect_to(path).value();
  shm::HandshakeMessage message;
  message.arena = id;
  message.endpoint = endpoint;
  shm::send_message(socket.get(), std::as_bytes(std::span(&message, 1)), &memory);
  std::array<std::byte, sizeof message> answer;
  for (;;) {
    auto received = shm::receive_message(socket.get(), answer);
    if (received.kind != shm::ReceivedMessage::Kind::nothing_yet) return received;
    std::this_thread::sleep_for(1ms);
  }
}

void expect_refused(Responder& responder, std::string_view why) {
  const auto request = responder.listener->accept(responder.host.now_ns() + hang_limit_ns);
  ASSERT_NE(request, nullptr);
  const auto accepted = request->accept(responder.options(), {});
  ASSERT_FALSE(accepted.has_value()) << why;
  EXPECT_EQ(accepted.error().code, fabric::ErrorCode::invalid_argument);
  EXPECT_NE(accepted.error().detail.find(why), std::string::npos) << accepted.error().detail;
}

TEST_F(StoppedPeerTest, WhoseEndpointIsNowhereIsRefused) {
  const auto path = shm::socket_path(directory_, "responder", service);
  MemoryOfCaller memory;
  memory.endpoint.wake_word = std::uint64_t{1} << 50;
  respond([&](Responder& responder) {
    for (const std::uint64_t place :
         {std::uint64_t{1} << 50, std::uint64_t{8}, ~std::uint64_t{63}, memory.place}) {
      const std::jthread caller([&] { call(path, {1, 2}, memory.arena->file(), place); });
      expect_refused(responder, "is not within its memory");
    }
    memory.endpoint.wake_word = shm::wake_word_table_offset;
    for (const std::uint64_t gate :
         {std::uint64_t{1} << 50, std::uint64_t{8}, ~std::uint64_t{63}}) {
      memory.endpoint.gate = gate;
      const std::jthread caller([&] { call(path, {1, 2}, memory.arena->file(), memory.place); });
      expect_refused(responder, "is not within its memory");
    }
  });
}

// A process that accesses a page beyond the end of the file is killed by SIGBUS.
TEST_F(StoppedPeerTest, CannotShrinkTheMemoryOfOthers) {
  const auto path = shm::socket_path(directory_, "responder", service);
  MemoryOfCaller memory;
  respond([&](Responder& responder) {
    shm::FileDescriptor theirs;
    std::jthread caller([&] {
      theirs = call(path, {1, 2}, memory.arena->file(), memory.place).attached;
    });
    responder.accept();
    caller.join();
    ASSERT_TRUE(theirs.is_open());
    struct stat status {};
    ASSERT_EQ(::fstat(theirs.get(), &status), 0);
    for (const off_t size_bytes : {off_t{0}, status.st_size - 4'096, status.st_size + 4'096}) {
      ASSERT_NE(::ftruncate(theirs.get(), size_bytes), 0) << size_bytes;
      EXPECT_EQ(errno, EPERM) << size_bytes;
    }
    responder.target->store(target_bytes - 8, 1);
  });
}

TEST_F(StoppedPeerTest, WhoseOwnMemoryCanShrinkIsRefused) {
  const auto path = shm::socket_path(directory_, "responder", service);
  const MemoryOfCaller memory;
  const std::uint64_t size_bytes = memory.arena->mapping()->size_bytes();
  const shm::FileDescriptor unsealed(::memfd_create("unsealed", MFD_CLOEXEC));
  ASSERT_EQ(::ftruncate(unsealed.get(), static_cast<off_t>(size_bytes)), 0);
  ASSERT_EQ(::pwrite(unsealed.get(), memory.arena->mapping()->at(0), size_bytes, 0),
            static_cast<ssize_t>(size_bytes));
  respond([&](Responder& responder) {
    const std::jthread caller([&] { call(path, {1, 2}, unsealed, memory.place); });
    expect_refused(responder, "can shrink its shared memory");
  });
}

}  // namespace
}  // namespace falafel::shm_test
