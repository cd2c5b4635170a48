#include "tools/benchmarks/store/sim_benchmark.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "fabric/fiber_stack.h"
#include "fabric/sim/simulation.h"
#include "fabric/sim/strategies/make_strategy.h"
#include "tools/benchmarks/store/client_run.h"

namespace falafel::store_benchmark {
namespace {

constexpr std::uint64_t conductor_interval_ns = 5'000'000;

sim::SimulationOptions simulation_options() {
  sim::SimulationOptions options;
  options.granularity = sim::Granularity::packet;
  options.step_limit = 1'000'000'000'000;  // the maximum
  return options;
}

std::string name_of_node(std::uint32_t number) { return fmt::format("node {}", number); }

class SimulatedBenchmark {
 public:
  SimulatedBenchmark(const BenchmarkOptions& options, const Cluster& cluster,
                     std::function<void(const Progress&)> on_progress)
      : options_(options),
        cluster_(cluster),
        board_(make_shared_board(options.clients)),
        on_progress_(std::move(on_progress)) {}

  tl::expected<BenchmarkResult, std::string> run() {
    fabric::FiberStackPool stacks;
    const sim::SimulationOptions simulated = simulation_options();
    const auto strategy = sim::make_strategy(simulated, options_.seed);
    const auto simulation =
        cluster_.profile
            ? std::make_unique<sim::Simulation>(simulated, *strategy, stacks, *cluster_.profile)
            : std::make_unique<sim::Simulation>(simulated, *strategy, stacks);
    add_hosts(*simulation);
    const sim::RunResult result = simulation->run();
    if (conducted_.failure) return tl::unexpected(*conducted_.failure);
    if (result.outcome != sim::Outcome::completed) return tl::unexpected(result.explanation);
    BenchmarkResult measured = sum_up(options_, *board_, conducted_);
    measured.fabric = "sim";
    measured.clock =
        cluster_.profile
            ? fmt::format("virtual time of the simulator; the card is a {}",
                          cluster_.profile->title)
            : "virtual time of the simulator, whose network is adversarial and not calibrated";
    measured.busiest_parts = busiest_parts();
    return measured;
  }

 private:
  void add_hosts(sim::Simulation& simulation) {
    simulation.add_host({.name = "server",
                         .role = sim::Role::server,
                         .machine = cluster_.server_on_node ? name_of_node(0) : ""},
                        [this](fabric::Host& host) { run_server(host, options_, *board_); });
    for (std::uint32_t client = 0; client < options_.clients; ++client) {
      simulation.add_host(
          {.name = fmt::format("client {}", client),
           .machine = name_of_node(client % cluster_.nodes)},
          [this, client](fabric::Host& host) {
            while (board_->server.state == PartyState::starting)
              host.sleep_until(host.now_ns() + 10'000);
            const ClientPlace place{
                .server = {.host = "server", .service = engine::ServerOptions{}.service},
                .clock = OperationClock::of([&host] { return host.now_ns(); }),
                .number = client};
            run_client(host, place, options_, *board_);
          });
    }
    simulation.add_host({.name = "conductor"}, [this](fabric::Host& host) { conduct(host); });
    if (cluster_.profile) {
      simulation.add_host({.name = "meter"},
                          [this, &simulation](fabric::Host& host) { meter(host, simulation); });
    }
  }

  // Notes how busy the parts of the machines are while the workload runs.
  void meter(fabric::Host& host, const sim::Simulation& simulation) {
    constexpr std::uint64_t meter_interval_ns = 10'000;
    const auto wait_for = [&](Phase phase) {
      while (board_->phase < phase) host.sleep_until(host.now_ns() + meter_interval_ns);
    };
    wait_for(Phase::running);
    const std::vector<sim::Usage> before = simulation.usage();
    const std::uint64_t begin_ns = host.now_ns();
    wait_for(Phase::finishing);
    usage_ = simulation.usage();
    for (std::size_t index = 0; index < usage_.size(); ++index) {
      usage_[index].busy_ns -= before[index].busy_ns;
    }
    metered_ns_ = host.now_ns() - begin_ns;
  }

  std::vector<BusyPart> busiest_parts() const {
    constexpr std::size_t shown = 4;
    std::vector<BusyPart> parts;
    parts.reserve(usage_.size());
    for (const sim::Usage& usage : usage_) {
      parts.push_back({fmt::format("{} of {}", usage.part, usage.machine),
                       static_cast<double>(usage.busy_ns) / static_cast<double>(metered_ns_)});
    }
    std::ranges::stable_sort(parts, std::greater{}, &BusyPart::share);
    parts.resize(std::min(parts.size(), shown));
    return parts;
  }

  void conduct(fabric::Host& host) {
    Conductor conductor(
        options_, *board_,
        {.now_ns = [&host] { return host.now_ns(); },
         .sleep =
             [&host](std::uint64_t duration_ns) { host.sleep_until(host.now_ns() + duration_ns); },
         .interval_ns = conductor_interval_ns},
        on_progress_, {});
    conducted_ = conductor.run();
  }

  const BenchmarkOptions& options_;
  const Cluster& cluster_;
  std::vector<sim::Usage> usage_;
  std::uint64_t metered_ns_ = 1;
  SharedBoard board_;
  std::function<void(const Progress&)> on_progress_;
  ConductedRun conducted_;
};

}  // namespace

tl::expected<BenchmarkResult, std::string> run_in_simulator(
    const BenchmarkOptions& options, std::function<void(const Progress&)> on_progress,
    const Cluster& cluster) {
  return SimulatedBenchmark(options, cluster, std::move(on_progress)).run();
}

}  // namespace falafel::store_benchmark
