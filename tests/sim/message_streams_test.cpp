// Message streams in the simulator: when SENDs complete, what the end of a stream loses,
// which of these outcomes choices reach, and what messages cost in a timed run.
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <vector>

#include "fabric/sim/simulation.h"
#include "fabric/sim/strategies/random_strategy.h"

namespace falafel::sim {
namespace {

constexpr std::uint64_t stream_seeds = 300;
constexpr std::uint64_t stream_patience_ns = 1'000'000;
constexpr std::uint32_t word_length = 8;
constexpr std::uint64_t incoming = 2'048;  // where messages arrive

// One end of a stream, with memory for a message each way.
class StreamEnd {
 public:
  explicit StreamEnd(fabric::Host& host)
      : host_(host),
        domain_(host.device(0).create_protection_domain()),
        sends_(host.device(0).create_completion_queue(8).value()),
        receives_(host.device(0).create_completion_queue(8).value()),
        memory_(host.allocate_memory(2 * incoming).value()),
        region_(domain_->register_memory(memory_, 0, 2 * incoming, {.local_write = true}).value()) {
  }

  void connect() {
    auto connected = host_.device(0).connect({"server", 1}, options(), {}, fabric::never_ns);
    queue_pair_ = std::move(connected.value().queue_pair);
  }
  void accept(fabric::Listener& listener) {
    queue_pair_ = listener.accept(fabric::never_ns)->accept(options(), {}).value();
  }

  void post_send(std::uint64_t value, std::uint32_t length_bytes = word_length) {
    memory_->store(0, value);
    fabric::WorkRequest request;
    request.opcode = fabric::Opcode::send;
    request.length_bytes = length_bytes;
    request.local = {region_->local_key(), 0};
    ASSERT_TRUE(queue_pair_->post_send({&request, 1}).has_value());
  }
  // Also waits until the kernel has it.
  void send(std::uint64_t value, std::uint32_t length_bytes = word_length) {
    post_send(value, length_bytes);
    fabric::WorkCompletion completion;
    ASSERT_TRUE(sends_->wait(fabric::never_ns));
    ASSERT_EQ(sends_->poll({&completion, 1}), 1U);
  }
  void post_receive(std::uint32_t length_bytes = word_length) {
    const fabric::ReceiveRequest request{.local = {region_->local_key(), incoming},
                                         .length_bytes = length_bytes};
    ASSERT_TRUE(queue_pair_->post_receive({&request, 1}).has_value());
  }
  // Waits for the message of the posted receive request. False: none, or the stream has ended.
  bool receive(std::uint64_t deadline_ns = fabric::never_ns) {
    fabric::WorkCompletion completion;
    if (!receives_->wait(deadline_ns)) return false;
    EXPECT_EQ(receives_->poll({&completion, 1}), 1U);
    return completion.status == fabric::CompletionStatus::success;
  }
  std::uint64_t received() const { return memory_->load(incoming); }

  std::uint64_t accepted_sends() {
    std::vector<fabric::WorkCompletion> completions(8);
    return sends_->poll(completions);
  }
  fabric::QueuePair& queue_pair() { return *queue_pair_; }

 private:
  fabric::QueuePairOptions options() const {
    return {.transport = fabric::Transport::message_stream,
            .protection_domain = domain_.get(),
            .send_completions = sends_.get(),
            .receive_completions = receives_.get(),
            .max_send_requests = 8,
            .max_receive_requests = 8,
            .acknowledge_timeout_ns = 10'000,
            .retry_count = 1};
  }

  fabric::Host& host_;
  std::unique_ptr<fabric::ProtectionDomain> domain_;
  std::unique_ptr<fabric::CompletionQueue> sends_;
  std::unique_ptr<fabric::CompletionQueue> receives_;
  std::shared_ptr<fabric::MemoryBlock> memory_;
  std::unique_ptr<fabric::MemoryRegion> region_;
  std::unique_ptr<fabric::QueuePair> queue_pair_;
};

struct StreamProgram {
  std::function<void(fabric::Host&, StreamEnd&, Simulation&)> client;
  std::function<void(fabric::Host&, StreamEnd&)> server;
};

void run_stream(std::uint64_t seed, const SimulationOptions& options,
                const StreamProgram& program) {
  fabric::FiberStackPool stacks;
  RandomStrategy strategy(seed);
  Simulation simulation(options, strategy, stacks);
  simulation.add_host({.name = "server", .role = Role::server}, [&](fabric::Host& host) {
    StreamEnd end(host);
    const auto listener = host.device(0).listen(1).value();
    end.accept(*listener);
    program.server(host, end);
  });
  simulation.add_host({.name = "client"}, [&](fabric::Host& host) {
    StreamEnd end(host);
    host.sleep_until(host.now_ns() + 1'000);  // the server listens by then
    end.connect();
    program.client(host, end, simulation);
  });
  const RunResult result = simulation.run();
  EXPECT_EQ(result.outcome, Outcome::completed) << result.explanation;
}

// Receives until nothing comes any more. Returns how many messages came; they begin with 1.
std::uint64_t receive_all(fabric::Host& host, StreamEnd& end, bool& hears_end) {
  std::uint64_t messages = 0;
  while (true) {
    end.post_receive();
    if (!end.receive(host.now_ns() + stream_patience_ns)) break;
    EXPECT_EQ(end.received(), ++messages);
  }
  hears_end = end.queue_pair().state() == fabric::QueuePairState::error;
  return messages;
}

// A client sends three messages, which its kernel accepts, and then `ending` happens.
struct Endings {
  std::set<std::uint64_t> messages;  // how many may arrive
  std::set<bool> hears_end;
};
Endings endings_after(const std::function<void(StreamEnd&, Simulation&)>& ending,
                      bool server_sends = false) {
  Endings endings;
  for (std::uint64_t seed = 0; seed < stream_seeds; ++seed) {
    run_stream(seed, {},
               {.client =
                    [&](fabric::Host& host, StreamEnd& end, Simulation& simulation) {
                      for (std::uint64_t value = 1; value <= 3; ++value) end.send(value);
                      ending(end, simulation);
                      host.sleep_until(host.now_ns() + 10 * stream_patience_ns);
                    },
                .server =
                    [&](fabric::Host& host, StreamEnd& end) {
                      if (server_sends) end.post_send(9);
                      bool hears_end = false;
                      endings.messages.insert(receive_all(host, end, hears_end));
                      endings.hears_end.insert(hears_end);
                    }});
  }
  return endings;
}

TEST(MessageStreams, LoseNothingAtAnOrderlyEnd) {
  const Endings endings =
      endings_after([](StreamEnd& end, Simulation&) { end.queue_pair().close(); });
  EXPECT_EQ(endings.messages, std::set<std::uint64_t>({3}));
  EXPECT_EQ(endings.hears_end, std::set<bool>({true}));
}

TEST(MessageStreams, AResetOvertakesMessages) {
  const Endings endings =
      endings_after([](StreamEnd& end, Simulation&) { end.queue_pair().close(); }, true);
  EXPECT_EQ(endings.messages, std::set<std::uint64_t>({0, 1, 2, 3}));
  EXPECT_EQ(endings.hears_end, std::set<bool>({true}));
}

TEST(MessageStreams, LoseTheLastMessagesOfAHostThatDies) {
  const Endings endings =
      endings_after([](StreamEnd&, Simulation& simulation) { simulation.crash("client"); });
  EXPECT_EQ(endings.messages, std::set<std::uint64_t>({0, 1, 2, 3}));
  EXPECT_EQ(endings.hears_end, std::set<bool>({false, true})) << "a machine that dies is silent";
}

TEST(MessageStreams, LoseTheLastMessagesWithTheNetwork) {
  const Endings endings = endings_after(
      [](StreamEnd&, Simulation& simulation) { simulation.break_connection("client"); });
  EXPECT_EQ(endings.messages, std::set<std::uint64_t>({0, 1, 2, 3}));
  EXPECT_EQ(endings.hears_end, std::set<bool>({false, true}));
}

// The peer of a silent machine learns of its death from the time-out, and not before.
TEST(MessageStreams, SilenceTimesOut) {
  std::uint64_t latest_ns = 0;
  for (std::uint64_t seed = 0; seed < stream_seeds; ++seed) {
    run_stream(seed, {},
               {.client =
                    [](fabric::Host& host, StreamEnd&, Simulation& simulation) {
                      simulation.crash("client");
                      host.yield();
                    },
                .server =
                    [&](fabric::Host& host, StreamEnd& end) {
                      host.sleep_until(host.now_ns() + 5'000);
                      const std::uint64_t begin_ns = host.now_ns();
                      end.send(9);
                      end.post_receive();
                      EXPECT_FALSE(end.receive(begin_ns + stream_patience_ns));
                      EXPECT_EQ(end.queue_pair().state(), fabric::QueuePairState::error);
                      latest_ns = std::max(latest_ns, host.now_ns() - begin_ns);
                    }});
  }
  EXPECT_GE(latest_ns, 20'000U) << "two attempts of 10 us";
  EXPECT_LT(latest_ns, stream_patience_ns);
}

// -------------------------------------------------------------------------------------------------
// The kernels' buffers

// How many of five SENDs of one word complete although the server receives none.
std::uint64_t accepted_without_receiver(std::uint64_t stream_buffer_bytes) {
  std::uint64_t accepted = 0;
  SimulationOptions options;
  options.stream_buffer_bytes = stream_buffer_bytes;
  run_stream(
      1, options,
      {.client =
           [&](fabric::Host& host, StreamEnd& end, Simulation&) {
             for (std::uint64_t value = 1; value <= 5; ++value) end.post_send(value);
             host.sleep_until(host.now_ns() + stream_patience_ns);
             accepted = end.accepted_sends();
           },
       .server = [](fabric::Host& host,
                    StreamEnd&) { host.sleep_until(host.now_ns() + 2 * stream_patience_ns); }});
  return accepted;
}

TEST(MessageStreams, KernelsHoldSoMuch) {
  EXPECT_EQ(accepted_without_receiver(0), 0U);
  EXPECT_EQ(accepted_without_receiver(23), 2U);
  EXPECT_EQ(accepted_without_receiver(65'536), 5U);
}

TEST(MessageStreams, SendsMayCompleteBeforeOrAfterTheArrival) {
  std::set<bool> was_received_first;
  for (std::uint64_t seed = 0; seed < stream_seeds; ++seed) {
    bool is_received = false;
    run_stream(seed, {},
               {.client =
                    [&](fabric::Host&, StreamEnd& end, Simulation&) {
                      end.send(1);
                      was_received_first.insert(is_received);
                    },
                .server =
                    [&](fabric::Host&, StreamEnd& end) {
                      end.post_receive();
                      EXPECT_TRUE(end.receive());
                      is_received = true;
                    }});
  }
  EXPECT_EQ(was_received_first, std::set<bool>({false, true}));
}

// -------------------------------------------------------------------------------------------------
// Timed runs

constexpr std::uint64_t begin_of_exchanges_ns = 20'000'000;  // all clients are connected by then
constexpr std::uint64_t time_of_exchanges_ns = 20'000'000;

// Clients on machines of their own exchange a request and a reply of 10 bytes with a server, whose
// fibers share one thread. Returns the exchanges per second.
double measure_exchanges(std::uint32_t clients, std::uint32_t request_bytes) {
  constexpr std::uint32_t reply_bytes = 10;
  fabric::FiberStackPool stacks;
  RandomStrategy strategy(1);
  Simulation simulation({}, strategy, stacks, timing::find_profile("connectx2-ddr").value());
  std::uint64_t exchanges = 0;
  simulation.add_host({.name = "server", .role = Role::server}, [&](fabric::Host& host) {
    const auto listener = host.device(0).listen(1).value();
    std::vector<fabric::FiberId> fibers;
    for (std::uint32_t client = 0; client < clients; ++client) {
      auto end = std::make_shared<StreamEnd>(host);
      end->accept(*listener);
      fibers.push_back(host.spawn({}, [end, request_bytes] {
        end->post_receive(request_bytes);
        while (end->receive()) {
          end->post_receive(request_bytes);
          end->send(1, reply_bytes);
        }
      }));
    }
    for (const fabric::FiberId fiber : fibers) host.join(fiber);
  });
  for (std::uint32_t client = 0; client < clients; ++client) {
    simulation.add_host({.name = "client " + std::to_string(client)}, [&](fabric::Host& host) {
      StreamEnd end(host);
      host.sleep_until(host.now_ns() + 1'000);
      end.connect();
      host.sleep_until(begin_of_exchanges_ns);
      while (host.now_ns() < begin_of_exchanges_ns + time_of_exchanges_ns) {
        end.post_receive(reply_bytes);
        end.send(1, request_bytes);
        EXPECT_TRUE(end.receive());
        ++exchanges;
      }
    });
  }
  const RunResult result = simulation.run();
  EXPECT_EQ(result.outcome, Outcome::completed) << result.explanation;
  return 1e9 * static_cast<double>(exchanges) / static_cast<double>(time_of_exchanges_ns);
}

// Pilaf (Mitchell et al., USENIX ATC 2013), figure 1 and table 1.
TEST(MessageStreams, CostWhatIpOverInfiniBandCosts) {
  EXPECT_NEAR(1e6 / measure_exchanges(1, 16), 60, 0.6);  // microseconds
  EXPECT_NEAR(measure_exchanges(24, 16), 126'000, 1'260);
  EXPECT_NEAR(measure_exchanges(24, 1'024), 122'000, 1'220);
}

TEST(MessageStreams, AreAbsentWhereAProfileLacksTheirCosts) {
  for (const auto& [profile, has_streams] :
       {std::pair("connectx2-ddr", true), std::pair("soft-roce", false)}) {
    fabric::FiberStackPool stacks;
    RandomStrategy strategy(1);
    Simulation simulation({}, strategy, stacks, timing::find_profile(profile).value());
    simulation.add_host({.name = "host"}, [&](fabric::Host& host) {
      EXPECT_EQ(host.device(0).attributes().supports_message_stream, has_streams) << profile;
    });
    EXPECT_EQ(simulation.run().outcome, Outcome::completed);
  }
}

}  // namespace
}  // namespace falafel::sim
