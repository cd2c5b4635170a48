#include "tools/benchmarks/figures/read_variation.h"

#include <cstring>
#include <memory>
#include <utility>

#include "fabric/assert.h"
#include "fabric/fabric.h"
#include "fabric/fiber_stack.h"
#include "fabric/sim/simulation.h"
#include "fabric/sim/strategies/random_strategy.h"

namespace falafel::figures {
namespace {

using fabric::Opcode;

constexpr std::uint16_t flush_service = 1;
constexpr std::uint64_t client_connects_ns = 1'000;
constexpr std::uint32_t read_bytes = 64;
constexpr std::uint32_t message_bytes = 64;
constexpr std::uint64_t page_bytes = 4'096;
// Places in the memory of either side, all on different pages.
constexpr std::uint64_t read_place = 0;
constexpr std::uint64_t message_place = page_bytes;
constexpr std::uint64_t transfer_place = 2 * page_bytes;

// The objects of either side.
class FlushSide {
 public:
  FlushSide(fabric::Host& host, const Flush& flush)
      : host_(host),
        domain_(host.device(0).create_protection_domain()),
        sends_(host.device(0).create_completion_queue(1).value()),
        receives_(host.device(0).create_completion_queue(1).value()),
        memory_(host.allocate_memory(transfer_place + page_bytes + flush.transfer_bytes).value()),
        region_(
            domain_
                ->register_memory(memory_, 0, memory_->bytes().size(),
                                  {.local_write = true, .remote_read = true, .remote_write = true})
                .value()) {}

  fabric::QueuePairOptions options() const {
    return {.protection_domain = domain_.get(),
            .send_completions = sends_.get(),
            .receive_completions = receives_.get(),
            .max_send_requests = 1,
            .max_receive_requests = 1};
  }

  std::uint32_t remote_key() const { return region_->remote_key(); }

  void expect_message(fabric::QueuePair& queue_pair) {
    const fabric::ReceiveRequest request{.local = {region_->local_key(), message_place},
                                         .length_bytes = message_bytes};
    const auto result = queue_pair.post_receive({&request, 1});
    FALAFEL_ASSERT(result.has_value(), "{}", result.error().detail);
  }
  void wait_for_message() { take_completion(*receives_); }

  // Waits until the request is complete. Returns how long it took.
  std::uint64_t run(fabric::QueuePair& queue_pair, Opcode opcode, std::uint64_t place,
                    std::uint32_t length_bytes, std::uint32_t remote_key) {
    fabric::WorkRequest request;
    request.opcode = opcode;
    request.length_bytes = length_bytes;
    request.local = {region_->local_key(), place};
    request.remote = {remote_key, place};
    const std::uint64_t posted_ns = host_.now_ns();
    const auto result = queue_pair.post_send({&request, 1});
    FALAFEL_ASSERT(result.has_value(), "{}", result.error().detail);
    take_completion(*sends_);
    return host_.now_ns() - posted_ns;
  }
  void send_message(fabric::QueuePair& queue_pair) {
    run(queue_pair, Opcode::send, message_place, message_bytes, 0);
  }

 private:
  static void take_completion(fabric::CompletionQueue& queue) {
    queue.wait(fabric::never_ns);
    fabric::WorkCompletion completion;
    const std::size_t count = queue.poll({&completion, 1});
    FALAFEL_ASSERT(count == 1, "{} completions", count);
    FALAFEL_ASSERT(completion.status == fabric::CompletionStatus::success, "{}",
                   to_string(completion.status));
  }

  fabric::Host& host_;
  std::unique_ptr<fabric::ProtectionDomain> domain_;
  std::unique_ptr<fabric::CompletionQueue> sends_;
  std::unique_ptr<fabric::CompletionQueue> receives_;
  std::shared_ptr<fabric::MemoryBlock> memory_;
  std::unique_ptr<fabric::MemoryRegion> region_;
};

class FlushBenchmark {
 public:
  FlushBenchmark(const Flush& flush, std::uint32_t reads) : flush_(flush), reads_(reads) {}

  std::vector<double> run(const sim::timing::Profile& profile) {
    sim::SimulationOptions options;
    options.granularity = sim::Granularity::packet;
    options.step_limit = 1'000'000'000'000;
    sim::RandomStrategy strategy(1);
    fabric::FiberStackPool stacks;
    sim::Simulation simulation(options, strategy, stacks, profile);
    simulation.add_host({.name = "server", .role = sim::Role::server},
                        [this](fabric::Host& host) { serve(host); });
    simulation.add_host({.name = "client"}, [this](fabric::Host& host) { measure(host); });
    const sim::RunResult result = simulation.run();
    FALAFEL_ASSERT(result.outcome == sim::Outcome::completed, "{}", result.explanation);
    return std::move(latencies_ns_);
  }

 private:
  void serve(fabric::Host& host) {
    FlushSide side(host, flush_);
    const auto listener = host.device(0).listen(flush_service).value();
    const std::uint32_t key = side.remote_key();
    fabric::PrivateData reply(sizeof key);
    std::memcpy(reply.data(), &key, sizeof key);
    const auto request = listener->accept(fabric::never_ns);
    const auto queue_pair = request->accept(side.options(), reply).value();
    side.expect_message(*queue_pair);
    if (flush_.memset_bytes > 0) answer_messages(host, side, *queue_pair);
    // The last message: the client has finished.
    side.wait_for_message();
  }

  void answer_messages(fabric::Host& host, FlushSide& side, fabric::QueuePair& queue_pair) {
    for (std::uint32_t answered = 0; answered < reads_; ++answered) {
      side.wait_for_message();
      side.expect_message(queue_pair);
      host.spend(fabric::Work::copy, flush_.memset_bytes);
      side.send_message(queue_pair);
    }
  }

  void measure(fabric::Host& host) {
    host.sleep_until(client_connects_ns);
    FlushSide side(host, flush_);
    const auto connection =
        host.device(0)
            .connect({"server", flush_service}, side.options(), {}, fabric::never_ns)
            .value();
    fabric::QueuePair& queue_pair = *connection.queue_pair;
    std::uint32_t key = 0;
    std::memcpy(&key, connection.private_data.data(), sizeof key);
    for (std::uint32_t read = 0; read < reads_; ++read) {
      flush(side, queue_pair, key);
      latencies_ns_.push_back(
          static_cast<double>(side.run(queue_pair, Opcode::read, read_place, read_bytes, key)));
    }
    side.send_message(queue_pair);
  }

  void flush(FlushSide& side, fabric::QueuePair& queue_pair, std::uint32_t key) {
    if (flush_.transfer_bytes > 0) {
      side.run(queue_pair, Opcode::read, transfer_place, flush_.transfer_bytes, key);
      side.run(queue_pair, Opcode::write, transfer_place, flush_.transfer_bytes, key);
    }
    if (flush_.memset_bytes > 0) {
      side.expect_message(queue_pair);
      side.send_message(queue_pair);
      side.wait_for_message();
    }
  }

  const Flush& flush_;
  std::uint32_t reads_;
  std::vector<double> latencies_ns_;
};

}  // namespace

std::vector<double> measure_reads(const sim::timing::Profile& profile, const Flush& flush,
                                  std::uint32_t reads) {
  return FlushBenchmark(flush, reads).run(profile);
}

}  // namespace falafel::figures
