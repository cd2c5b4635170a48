#include "explorer/campaign.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "explorer/seed_source.h"
#include "explorer/wall_clock.h"
#include "explorer/worker.h"

namespace falafel::explorer {
namespace {

using Workers = std::vector<std::unique_ptr<Worker>>;

// The sum over all workers of the counter that `counter_of` returns.
template <typename CounterOf>
std::uint64_t sum_of(const Workers& workers, const CounterOf& counter_of) {
  std::uint64_t sum = 0;
  for (const auto& worker : workers) sum += std::invoke(counter_of, worker->counters());
  return sum;
}

template <typename Kind, std::size_t size>
NamedCounts count_by_kind(const Workers& workers,
                          std::array<std::atomic<std::uint64_t>, size> WorkerCounters::*counters) {
  NamedCounts counts;
  for (std::size_t index = 0; index < size; ++index) {
    counts.emplace_back(
        to_string(static_cast<Kind>(index)),
        sum_of(workers, [&](const WorkerCounters& all) { return (all.*counters)[index].load(); }));
  }
  return counts;
}

void count(const Program& program, const Workers& workers, CampaignResult& result) {
  result.schedules = sum_of(workers, &WorkerCounters::schedules);
  result.steps = sum_of(workers, &WorkerCounters::steps);
  result.hash = sum_of(workers, &WorkerCounters::hash);
  result.unknown = sum_of(workers, &WorkerCounters::unknown);
  for (const fabric::Probe& probe : program.probes()) {
    result.probes.emplace_back(probe.name, sum_of(workers, [&](const WorkerCounters& counters) {
                                 return counters.probes[probe.index].load();
                               }));
  }
  result.simulator_probes =
      count_by_kind<sim::SimulatorProbe>(workers, &WorkerCounters::simulator_probes);
  result.faults = count_by_kind<sim::FaultKind>(workers, &WorkerCounters::faults);
}

void add(CampaignResult& result, const Finding& finding) {
  ++result.violations[finding.property];
  const auto [known, is_new] = result.findings.emplace(finding.property, finding);
  if (!is_new && finding.seed < known->second.seed) known->second = finding;
}

void add(CampaignResult& result, const WorkerReport& report) {
  for (const Finding& finding : report.findings) add(result, finding);
  add(result.unjudged, report.unjudged);
}

std::uint64_t lowest_seed(const CampaignResult& result) {
  std::uint64_t lowest = ~std::uint64_t{0};
  for (const auto& [property, finding] : result.findings) lowest = std::min(lowest, finding.seed);
  return lowest;
}

}  // namespace

CampaignResult run_campaign(const Program& program, const CampaignOptions& options,
                            const CampaignProgress& progress) {
  constexpr auto interval = std::chrono::milliseconds(50);
  program.prepare_campaign();
  const double start = now_seconds();
  SeedSource seeds(
      {.first = options.first_seed, .stride = options.stride, .count = options.schedules});
  Workers workers;
  for (unsigned index = 0; index < std::max(options.jobs, 1U); ++index) {
    workers.push_back(std::make_unique<Worker>(program, seeds));
  }
  CampaignResult found;  // findings only; the counters stay with the workers
  found.identity = identify(program, options.scenario_options);
  bool is_asked_to_end = false;
  for (bool is_over = false; !is_over;) {
    std::this_thread::sleep_for(interval);
    is_over = true;
    for (const auto& worker : workers) {
      add(found, worker->poll());
      is_over = is_over && worker->is_over();
    }
    const double seconds = now_seconds() - start;
    const bool is_time = options.seconds > 0 && seconds > options.seconds;
    for (const auto& worker : workers) {
      if (is_time || is_asked_to_end) worker->stop();
      if (options.stops_at_violation && !found.holds()) worker->stop_after(lowest_seed(found));
    }
    CampaignResult result = found;
    result.seconds = seconds;
    if (const std::uint64_t taken = seeds.taken(); taken > 0) {
      result.seeds = {{.first = options.first_seed, .stride = options.stride, .count = taken}};
    }
    count(program, workers, result);
    if (is_over) return result;
    if (!progress(result)) is_asked_to_end = true;
  }
  return found;
}

CampaignResult run_campaign(const Program& program, const CampaignOptions& options) {
  return run_campaign(program, options, [](const CampaignResult&) { return true; });
}

}  // namespace falafel::explorer
