#include "explorer/campaign.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <thread>
#include <vector>

#include "explorer/seed_source.h"
#include "explorer/wall_clock.h"
#include "explorer/worker.h"

namespace falafel::explorer {
namespace {

void add(CampaignResult& result, const WorkerCounters& counters) {
  result.schedules += counters.schedules;
  result.steps += counters.steps;
  result.hash += counters.hash;
  result.unknown += counters.unknown;
  for (std::size_t index = 0; index < result.probes.size(); ++index) {
    result.probes[index] += counters.probes[index];
  }
  for (std::size_t index = 0; index < result.simulator_probes.size(); ++index) {
    result.simulator_probes[index] += counters.simulator_probes[index];
  }
  for (std::size_t index = 0; index < result.faults.size(); ++index) {
    result.faults[index] += counters.faults[index];
  }
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

void add(UnjudgedSchedules& sum, const UnjudgedSchedules& part) {
  for (const auto& [property, unjudged] : part) {
    const auto [known, is_new] = sum.emplace(property, unjudged);
    if (is_new) continue;
    known->second.schedules += unjudged.schedules;
    if (unjudged.seed >= known->second.seed) continue;
    known->second.seed = unjudged.seed;
    known->second.reason = unjudged.reason;
  }
}

std::string to_text(const UnjudgedSchedules& unjudged) {
  std::string text;
  for (const auto& [property, schedules] : unjudged) {
    text += fmt::format("not judged: {} in {} schedules, first with seed {}: {}\n", property,
                        schedules.schedules, schedules.seed, schedules.reason);
  }
  return text;
}

CampaignResult run_campaign(const Program& program, const CampaignOptions& options,
                            const CampaignProgress& progress) {
  constexpr auto interval = std::chrono::milliseconds(50);
  program.prepare_campaign();
  const double start = now_seconds();
  SeedSource seeds(
      {.first = options.first_seed, .stride = options.stride, .count = options.schedules});
  std::vector<std::unique_ptr<Worker>> workers;
  for (unsigned index = 0; index < std::max(options.jobs, 1U); ++index) {
    workers.push_back(std::make_unique<Worker>(program, seeds));
  }
  CampaignResult found;  // findings only; the counters stay with the workers
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
    result.seeds = seeds.taken();
    for (const auto& worker : workers) add(result, worker->counters());
    if (is_over) return result;
    if (!progress(result)) is_asked_to_end = true;
  }
  return found;
}

CampaignResult run_campaign(const Program& program, const CampaignOptions& options) {
  return run_campaign(program, options, [](const CampaignResult&) { return true; });
}

}  // namespace falafel::explorer
