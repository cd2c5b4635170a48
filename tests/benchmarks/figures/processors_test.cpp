// The conditions of a timed run: threads that share processors, and completions that are late.
#include "fabric/sim/timing/processors.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "fabric/fiber_stack.h"
#include "fabric/sim/strategies/random_strategy.h"
#include "tools/benchmarks/figures/card_cost.h"

namespace falafel::figures {
namespace {

using sim::timing::Conditions;
using sim::timing::Processors;
using sim::timing::Profile;

Conditions sharing() {
  return {.shares_processors = true, .slice_ns = 1'000, .switch_ns = 100, .wake_ns = 500};
}

Processors with_threads(const Conditions& conditions, std::uint64_t count, int threads) {
  Processors processors(conditions, count);
  for (int thread = 0; thread < threads; ++thread) processors.add_thread();
  return processors;
}

TEST(Processors, ThreadsThatPollRunAtAnyTimeWhileThereAreEnough) {
  Processors processors = with_threads(sharing(), 2, 2);
  EXPECT_EQ(processors.next_turn_ns(1, 5'432), 5'432U);
  EXPECT_EQ(processors.end_turn_ns(1, 5'432, 10'000), 15'432U);
}

// Two processors, three threads: slices 0 to 2 run threads 0 and 1, 2 and 0, 1 and 2.
TEST(Processors, ThreadsThatPollTakeTurnsOtherwise) {
  Processors processors = with_threads(sharing(), 2, 3);
  EXPECT_EQ(processors.next_turn_ns(0, 500), 500U);
  EXPECT_EQ(processors.next_turn_ns(1, 500), 500U);
  EXPECT_EQ(processors.next_turn_ns(2, 500), 1'100U);    // after the switch
  EXPECT_EQ(processors.next_turn_ns(0, 1'020), 1'020U);  // it goes on
  EXPECT_EQ(processors.next_turn_ns(1, 1'020), 2'100U);
  EXPECT_EQ(processors.end_turn_ns(2, 1'100, 300), 1'400U);
  EXPECT_EQ(processors.end_turn_ns(2, 1'100, 1'500), 2'600U);  // it runs in two slices
  EXPECT_EQ(processors.end_turn_ns(1, 500, 600), 2'200U);  // it does not run in the second slice
}

TEST(Processors, ThreadsThatTakeTurnsLoseTheirProcessors) {
  const Processors processors = with_threads(sharing(), 2, 3);
  EXPECT_EQ(processors.preemptions(0, 1'000), 0U);  // it goes on in the second slice
  EXPECT_EQ(processors.preemptions(1, 1'000), 1U);
  EXPECT_EQ(processors.preemptions(0, 3'000), 1U);
  EXPECT_EQ(with_threads(sharing(), 2, 2).preemptions(0, 3'000), 0U);
}

TEST(Processors, ThreadsOfTheBackgroundTakeTurnsToo) {
  Conditions conditions = sharing();
  Processors alone = with_threads(conditions, 1, 1);
  EXPECT_EQ(alone.next_turn_ns(0, 1'500), 1'500U);
  conditions.background_threads = 1;
  Processors beside = with_threads(conditions, 1, 1);
  EXPECT_EQ(beside.next_turn_ns(0, 500), 500U);
  EXPECT_EQ(beside.next_turn_ns(0, 1'500), 2'100U);
}

// With as many of them, every second thread that runs is one of the background.
TEST(Processors, ThreadsOfTheBackgroundStandBetweenTheOthers) {
  Conditions conditions = sharing();
  conditions.background_threads = 4;
  const Processors processors = with_threads(conditions, 4, 4);
  EXPECT_EQ(processors.next_turn_ns(0, 500), 500U);
  EXPECT_EQ(processors.next_turn_ns(1, 500), 500U);
  EXPECT_EQ(processors.next_turn_ns(2, 500), 1'100U);
  EXPECT_EQ(processors.next_turn_ns(3, 500), 1'100U);
}

TEST(Processors, ThreadsThatBlockWaitForAFreeProcessor) {
  Conditions conditions = sharing();
  conditions.threads_block = true;
  Processors processors = with_threads(conditions, 1, 2);
  EXPECT_EQ(processors.begin_turn_ns(0, 1'000), 100U);
  EXPECT_EQ(processors.end_turn_ns(0, 1'000, 400), 1'400U);
  EXPECT_EQ(processors.next_turn_ns(1, 1'200), 1'400U);
  EXPECT_EQ(processors.next_turn_ns(0, 1'400), 1'400U);
  EXPECT_EQ(processors.begin_turn_ns(0, 1'400), 0U);  // nobody else ran meanwhile
  EXPECT_EQ(processors.end_turn_ns(0, 1'400, 400), 1'800U);
  EXPECT_EQ(processors.begin_turn_ns(1, 1'800), 100U);
}

// The times at which hosts of one machine have done 5 microseconds of work each.
std::vector<std::uint64_t> work_ends(const Profile& profile, int hosts) {
  sim::RandomStrategy strategy(1);
  fabric::FiberStackPool stacks;
  sim::Simulation simulation({}, strategy, stacks, profile);
  std::vector<std::uint64_t> ends;
  for (int number = 0; number < hosts; ++number) {
    simulation.add_host({.name = "host " + std::to_string(number), .machine = "machine"},
                        [&ends](fabric::Host& host) {
                          host.spend(fabric::Work::copy, 5'000);
                          host.yield();
                          ends.push_back(host.now_ns());
                        });
  }
  EXPECT_EQ(simulation.run().outcome, sim::Outcome::completed);
  return ends;
}

Profile thesis_profile() { return sim::timing::find_profile("connectx3-qdr").value(); }

TEST(Conditions, HostsOfAMachineShareItsProcessors) {
  Profile profile = thesis_profile();
  profile.copy_ps = 0;
  profile.copy_ps_per_byte = 1'000;
  profile.processors = 1;
  const std::vector<std::uint64_t> apart = work_ends(profile, 2);
  EXPECT_LT(apart[1], 6'000U);
  profile.conditions = sharing();
  const std::vector<std::uint64_t> polling = work_ends(profile, 2);
  EXPECT_GT(polling[0], 9'000U);  // each gets every second slice
  EXPECT_GT(polling[1], 10'000U);
  profile.conditions.threads_block = true;
  const std::vector<std::uint64_t> blocking = work_ends(profile, 2);
  EXPECT_LT(blocking[0], 11'000U);
  EXPECT_GT(blocking[1], 10'000U);
  profile.processors = 2;
  EXPECT_LT(work_ends(profile, 2)[1], 6'000U);
}

// A client waits most of the time, so clients that block share a processor well.
TEST(Conditions, BlockingPaysOffWithMoreThreadsThanProcessors) {
  Profile profile = thesis_profile();
  profile.processors = 2;
  profile.conditions = {.shares_processors = true, .slice_ns = 100'000};
  const auto rate = [&](std::uint32_t clients) {
    const CardLoad load{.clients = clients, .machines = 1, .requests = 2'000};
    return measure_card(profile, load).requests_per_second;
  };
  const double two_polling = rate(2);
  EXPECT_NEAR(rate(8), two_polling, 0.1 * two_polling);
  profile.conditions.threads_block = true;
  profile.conditions.wake_ns = 2'000;
  EXPECT_LT(rate(2), 0.8 * two_polling);  // waking and switching
  EXPECT_GT(rate(8), 1.3 * two_polling);
}

TEST(Conditions, CompletionsAreLateByTheJitterOnAverage) {
  Profile profile = thesis_profile();
  const CardLoad load{.length_bytes = 64, .requests = 20'000};
  const CardCost exact = measure_card(profile, load);
  profile.conditions.jitter_ns = 300;
  const CardCost late = measure_card(profile, load);
  EXPECT_NEAR(late.latency_ns - exact.latency_ns, 300, 15);
  EXPECT_EQ(measure_card(profile, load).run.trace_hash, late.run.trace_hash);
  CardLoad other = load;
  other.seed = 2;
  EXPECT_NE(measure_card(profile, other).latency_ns, late.latency_ns);
}

// How long the last word of a READ of 64 bytes keeps its value.
std::uint64_t word_changes_after_ns(const Profile& profile) {
  constexpr std::uint32_t read_bytes = 64;
  constexpr std::uint64_t last_word = read_bytes - sizeof(std::uint64_t);
  constexpr std::uint16_t service = 1;
  sim::RandomStrategy strategy(1);
  fabric::FiberStackPool stacks;
  sim::SimulationOptions options;
  options.granularity = sim::Granularity::packet;
  sim::Simulation simulation(options, strategy, stacks, profile);
  struct Side {
    explicit Side(fabric::Host& host)
        : domain(host.device(0).create_protection_domain()),
          queue(host.device(0).create_completion_queue(2).value()),
          memory(host.allocate_memory(read_bytes).value()),
          region(domain
                     ->register_memory(memory, 0, read_bytes,
                                       {.local_write = true, .remote_read = true})
                     .value()) {}
    fabric::QueuePairOptions options() const {
      return {.protection_domain = domain.get(),
              .send_completions = queue.get(),
              .receive_completions = queue.get(),
              .max_send_requests = 1,
              .max_receive_requests = 1};
    }
    std::unique_ptr<fabric::ProtectionDomain> domain;
    std::unique_ptr<fabric::CompletionQueue> queue;
    std::shared_ptr<fabric::MemoryBlock> memory;
    std::unique_ptr<fabric::MemoryRegion> region;
  };
  std::uint32_t key = 0;
  std::uint64_t changed_after_ns = 0;
  simulation.add_host({.name = "server", .role = sim::Role::server}, [&](fabric::Host& host) {
    const Side side(host);
    side.memory->store(last_word, 1);
    key = side.region->remote_key();
    const auto listener = host.device(0).listen(service).value();
    const auto queue_pair = listener->accept(fabric::never_ns)->accept(side.options(), {}).value();
    host.sleep_until(host.now_ns() + 10'000'000);
  });
  simulation.add_host({.name = "client"}, [&](fabric::Host& host) {
    host.sleep_until(1'000);
    const Side side(host);
    const auto connection =
        host.device(0).connect({"server", service}, side.options(), {}, fabric::never_ns).value();
    fabric::WorkRequest request{.opcode = fabric::Opcode::read, .length_bytes = read_bytes};
    request.local = {side.region->local_key(), 0};
    request.remote = {key, 0};
    const std::uint64_t posted_ns = host.now_ns();
    EXPECT_TRUE(connection.queue_pair->post_send({&request, 1}));
    while (side.memory->load(last_word) == 0) {
      side.memory->wait_until_changed(last_word, 0, fabric::never_ns);
    }
    changed_after_ns = host.now_ns() - posted_ns;
    side.queue->wait(fabric::never_ns);
  });
  EXPECT_EQ(simulation.run().outcome, sim::Outcome::completed);
  return changed_after_ns;
}

// A program that polls on its buffer saves the time of the completion, and no more.
TEST(Conditions, AnswersLandWhenTheyArriveIfProgramsPollOnBuffers) {
  Profile profile = thesis_profile();
  const double completed_ns = measure_card(profile, {.length_bytes = 64, .requests = 1}).latency_ns;
  const std::uint64_t completion_ns = profile.completion_ps / 1'000;
  profile.conditions.polls_buffers = true;
  EXPECT_NEAR(static_cast<double>(word_changes_after_ns(profile) + completion_ns), completed_ns, 5);
}

}  // namespace
}  // namespace falafel::figures
