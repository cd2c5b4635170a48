// The simulator as a backend of the conformance suite: each strategy with each device profile, with
// many seeds and without faults; replays of recorded runs; and timed runs.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdint>

#include "fabric/sim/simulation.h"
#include "fabric/sim/strategies/make_strategy.h"
#include "fabric/sim/strategies/recording_strategy.h"
#include "fabric/sim/strategies/replay_strategy.h"
#include "tests/conformance/harness.h"
#include "tests/thoroughness.h"

namespace falafel::conformance {
namespace {

using sim::Granularity;
using sim::SimulationOptions;
using sim::StrategyKind;

struct Profile {
  std::string name;
  SimulationOptions options;
};

class SimulatorBackend final : public Backend {
 public:
  SimulatorBackend(const SimulationOptions& options, sim::Strategy& strategy,
                   fabric::FiberStackPool& stacks)
      : simulation_(options, strategy, stacks) {}
  SimulatorBackend(const SimulationOptions& options, sim::Strategy& strategy,
                   fabric::FiberStackPool& stacks, const sim::timing::Profile& profile)
      : simulation_(options, strategy, stacks, profile) {}

  void crash(const std::string& host) override { simulation_.crash(host); }
  void break_connection(const std::string& host) override { simulation_.break_connection(host); }
  sim::RunResult run() { return simulation_.run(); }

 private:
  void add_guarded_host(const HostDescription& description, HostBody body) override {
    const sim::Role role = description.role == Role::server ? sim::Role::server : sim::Role::client;
    simulation_.add_host(
        {.name = description.name, .role = role, .device_count = description.device_count},
        std::move(body));
  }

  sim::Simulation simulation_;
};

sim::RunResult simulate(const Program& program, const SimulationOptions& options,
                        sim::Strategy& strategy, fabric::FiberStackPool& stacks) {
  SimulatorBackend backend(options, strategy, stacks);
  program(backend);
  sim::RunResult result = backend.run();
  EXPECT_EQ(result.outcome, sim::Outcome::completed) << result.explanation;
  return result;
}

// The options that differ from their defaults, as replay files and the command line name them.
std::string describe(const SimulationOptions& options) {
  std::string text = "simulator";
  for (const sim::OptionDescription& description : sim::option_descriptions()) {
    const std::string value = description.get(options);
    if (value != description.get({})) text += fmt::format(", {} = {}", description.name, value);
  }
  return text;
}

class SimulatorVariant : public Variant {
 public:
  SimulatorVariant(Profile profile, std::uint64_t seed_count)
      : profile_(std::move(profile)), seed_count_(seed_count) {}

  std::string name() const override {
    return fmt::format("{}_{}", to_string(options().strategy), profile_.name);
  }
  Capabilities capabilities() const override {
    return {.crashes_hosts = true,
            .breaks_connections = true,
            .inlines_data = true,
            .unreliable_connection = true,
            .unreliable_datagram = true,
            .message_stream = true,
            .shared_receive_queues = true,
            .masked_atomics = true,
            .keeps_memory = true,
            .places_in_address_order = options().address_order && !options().late_visibility};
  }

  void run(const Program& program) const override {
    fabric::FiberStackPool stacks;
    SCOPED_TRACE(describe(options()));
    for (std::uint64_t seed = 1; seed <= seed_count_; ++seed) {
      SCOPED_TRACE(testing::Message() << "seed " << seed);
      run_seed(program, seed, stacks);
      if (testing::Test::HasFailure() || testing::Test::IsSkipped()) return;
    }
  }

 protected:
  virtual void run_seed(const Program& program, std::uint64_t seed,
                        fabric::FiberStackPool& stacks) const {
    simulate(program, options(), *make_strategy(options(), seed), stacks);
  }
  const SimulationOptions& options() const { return profile_.options; }

 private:
  Profile profile_;
  std::uint64_t seed_count_;
};

// Records each run and replays it; the replay must take the same course.
class ReplayVariant final : public SimulatorVariant {
 public:
  using SimulatorVariant::SimulatorVariant;
  std::string name() const override { return "replay_" + SimulatorVariant::name(); }

 private:
  void run_seed(const Program& program, std::uint64_t seed,
                fabric::FiberStackPool& stacks) const override {
    const auto strategy = make_strategy(options(), seed);
    sim::RecordingStrategy recording(*strategy);
    const sim::RunResult recorded = simulate(program, options(), recording, stacks);
    sim::ReplayStrategy replay(recording.choices());
    const sim::RunResult replayed = simulate(program, options(), replay, stacks);
    EXPECT_EQ(replayed.trace_hash, recorded.trace_hash);
    EXPECT_EQ(replayed.steps, recorded.steps);
    EXPECT_EQ(replayed.time_ns, recorded.time_ns);
  }
};

// Steps take the time that a profile says. Runs twice, with the same course.
class TimedVariant final : public SimulatorVariant {
 public:
  using SimulatorVariant::SimulatorVariant;
  std::string name() const override { return "timed_" + SimulatorVariant::name(); }

 private:
  void run_seed(const Program& program, std::uint64_t seed,
                fabric::FiberStackPool& stacks) const override {
    const sim::RunResult first = run_timed(program, seed, stacks);
    const sim::RunResult again = run_timed(program, seed, stacks);
    EXPECT_EQ(first.trace_hash, again.trace_hash);
    EXPECT_EQ(first.steps, again.steps);
    EXPECT_EQ(first.time_ns, again.time_ns);
  }

  sim::RunResult run_timed(const Program& program, std::uint64_t seed,
                           fabric::FiberStackPool& stacks) const {
    const auto strategy = make_strategy(options(), seed);
    SimulatorBackend backend(options(), *strategy, stacks, profile_);
    program(backend);
    sim::RunResult result = backend.run();
    EXPECT_EQ(result.outcome, sim::Outcome::completed) << result.explanation;
    return result;
  }

  sim::timing::Profile profile_ = sim::timing::find_profile("connectx3-qdr").value();
};

SimulationOptions options_of(StrategyKind strategy) {
  SimulationOptions options;
  options.strategy = strategy;
  options.pct_steps = 300;  // roughly the length of a test, so that priorities change during it
  return options;
}

// Devices that differ from the default one in one respect each.
std::vector<Profile> profiles(StrategyKind strategy) {
  const SimulationOptions standard = options_of(strategy);
  std::vector<Profile> all;
  const auto add = [&](std::string name) -> SimulationOptions& {
    all.push_back({.name = std::move(name), .options = standard});
    return all.back().options;
  };
  add("packet").granularity = Granularity::packet;
  add("address_order").address_order = true;
  add("small_mtu").mtu_bytes = 256;
  add("one_outstanding").max_outstanding_reads_and_atomics = 1;
  add("preemption").processor_preemption = true;
  add("store_buffers").store_buffers = true;
  add("fibers_take_turns").fibers_take_turns = true;
  add("global_atomics").atomic_capability = fabric::AtomicCapability::global;
  add("failing_cas_writes").failing_cas_writes_back = true;
  SimulationOptions& clocks = add("clocks");
  clocks.clock_offset_ns = 1'000'000'000;
  clocks.clock_drift_ppm = 10;
  return all;
}

}  // namespace

std::vector<VariantPointer> backend_variants() {
  const std::uint64_t seed_count = tests::usual_share(100);
  std::vector<VariantPointer> variants;
  for (const StrategyKind strategy : {StrategyKind::random, StrategyKind::pct, StrategyKind::pos}) {
    const Profile standard{.name = "word", .options = options_of(strategy)};
    variants.push_back(std::make_shared<SimulatorVariant>(standard, seed_count));
    variants.push_back(std::make_shared<ReplayVariant>(standard, seed_count));
    if (strategy == StrategyKind::pos) continue;  // the devices do not differ with the strategy
    for (const Profile& profile : profiles(strategy)) {
      variants.push_back(std::make_shared<SimulatorVariant>(profile, seed_count));
    }
  }
  // Time leaves few choices, so few seeds differ.
  constexpr std::uint64_t timed_seed_count = 3;
  const SimulationOptions timed = options_of(StrategyKind::random);
  variants.push_back(
      std::make_shared<TimedVariant>(Profile{.name = "word", .options = timed}, timed_seed_count));
  for (const Profile& profile : profiles(StrategyKind::random)) {
    variants.push_back(std::make_shared<TimedVariant>(profile, timed_seed_count));
  }
  return variants;
}

}  // namespace falafel::conformance
