// Posting to a queue pair over shared memory without memory: a post that throws has no effect, and
// one that took effect in part completes all of its requests.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <memory>
#include <new>
#include <optional>
#include <vector>

#include "engine/local_memory.h"
#include "fabric/fabric.h"
#include "fabric/shm/process.h"
#include "tests/hang_limit.h"
#include "tests/store/limited_memory.h"
#include "tests/store/two_servers.h"

namespace falafel::server_program {
namespace {

constexpr std::uint16_t test_service = 7;

// One end of a connection.
struct End {
  explicit End(fabric::Host& owner) : host(owner) {
    domain = host.device(0).create_protection_domain();
    completions = host.device(0).create_completion_queue(64).value();
    memory = engine::allocate_local_memory(host, *domain, 64).value();
  }
  fabric::QueuePairOptions options() const {
    return {.protection_domain = domain.get(),
            .send_completions = completions.get(),
            .receive_completions = completions.get()};
  }
  void post_receive() {
    const fabric::ReceiveRequest request{.id = 1, .local = memory.at(0), .length_bytes = 8};
    ASSERT_TRUE(queue_pair->post_receive({&request, 1}).has_value());
  }
  // Two SENDs.
  void post_sends() {
    std::array<fabric::WorkRequest, 2> chain;
    for (std::uint64_t id = 0; id < chain.size(); ++id) {
      chain[id].id = id;
      chain[id].opcode = fabric::Opcode::send;
      chain[id].local = memory.at(8);
      chain[id].length_bytes = 8;
    }
    ASSERT_TRUE(queue_pair->post_send(chain).has_value());
  }
  std::vector<fabric::CompletionStatus> poll() {
    std::array<fabric::WorkCompletion, 8> polled;
    std::vector<fabric::CompletionStatus> statuses;
    const std::size_t count = completions->poll(polled);
    for (std::size_t index = 0; index < count; ++index) statuses.push_back(polled[index].status);
    return statuses;
  }

  fabric::Host& host;
  std::unique_ptr<fabric::ProtectionDomain> domain;
  std::unique_ptr<fabric::CompletionQueue> completions;
  engine::LocalMemory memory;
  std::unique_ptr<fabric::QueuePair> queue_pair;
};

void connect(End& requester, End& responder, fabric::Listener& listener) {
  fabric::Host& host = requester.host;
  const std::uint64_t deadline_ns = host.now_ns() + hang_limit_ns;
  const fabric::FiberId accepting = host.spawn({.name = "accepting"}, [&] {
    responder.queue_pair = listener.accept(deadline_ns)->accept(responder.options(), {}).value();
  });
  requester.queue_pair = host.device(0)
                             .connect({.host = host.name(), .service = test_service},
                                      requester.options(), {}, deadline_ns)
                             .value()
                             .queue_pair;
  host.join(accepting);
}

// The second SEND finds no receive request, so it has to wait.
void post_with(std::int64_t allocations, End& requester, End& responder) {
  using enum fabric::CompletionStatus;
  using Statuses = std::vector<fabric::CompletionStatus>;
  responder.post_receive();
  bool has_thrown = false;
  try {
    const Limit limit(allocations, true);
    requester.post_sends();
  } catch (const std::bad_alloc&) {
    has_thrown = true;
  }
  EXPECT_EQ(responder.poll(), has_thrown ? Statuses{} : Statuses{success});
  if (has_thrown) {
    EXPECT_EQ(requester.poll(), Statuses{});
    requester.post_sends();
    EXPECT_EQ(responder.poll(), Statuses{success});
  } else if (Limit::was_felt()) {
    EXPECT_EQ(requester.poll(), (Statuses{success, flushed}));
    return;
  }
  responder.post_receive();
  requester.host.yield();
  EXPECT_EQ(requester.poll(), (Statuses{success, success}));
}

TEST(PostingMemoryTest, PostThatThrowsHasNoEffect) {
  const TemporaryFolder folder;
  const auto process = shm::Process::create({.directory = folder.path()}).value();
  const auto host = process->create_host("host").value();
  host->run_program([&] {
    const auto listener = host->device(0).listen(test_service).value();
    bool was_felt = true;
    for (std::int64_t allocations = 0; was_felt; ++allocations) {
      ASSERT_LT(allocations, 100);
      End requester(*host);
      End responder(*host);
      connect(requester, responder, *listener);
      post_with(allocations, requester, responder);
      was_felt = Limit::was_felt();
    }
  });
}

}  // namespace
}  // namespace falafel::server_program
