// Figures 9 and 10 of the paper on C-Hint: what reports of the clients cost. Figure 9 needs leases
// and intervals of seconds, so all times are a thousandth of the paper's, as in the other figures.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>

#include "fabric/assert.h"
#include "fabric/time_units.h"
#include "tools/benchmarks/compare_stores/c_hint_store.h"
#include "tools/benchmarks/compare_stores/measurement.h"
#include "tools/benchmarks/figures/c_hint_figures.h"
#include "tools/benchmarks/figures/card_cost.h"
#include "tools/benchmarks/figures/distribution.h"
#include "tools/benchmarks/figures/exchange_cost.h"

namespace falafel::figures {
namespace {

using sim::timing::Profile;

constexpr std::uint64_t times_shorter = 1'000;

// One server; 95 % GETs. Clients report at this interval of the paper.
std::vector<double> latencies_with_reports(const Profile& card, std::uint64_t interval_seconds) {
  const compare_stores::Load load{
      .demand = {.clients = 4, .keys = 1'024, .key_bytes = 23, .value_bytes = 1'024},
      .workload = {.name = "c-hint",
                   .percent = {95, 5},
                   .distribution = store_benchmark::Distribution::zipfian},
      .machines = 4,
      .duration_ns = 130'000'000,  // two of the longest intervals
      .keeps_samples = true};
  const auto store = compare_stores::published_c_hint([&](c_hint::Options& options) {
    options.unit_of_empty_memory_ns /= times_shorter;
    options.unit_of_full_memory_ns /= times_shorter;
    options.report_interval_ns = interval_seconds * fabric::second_ns / times_shorter;
  });
  const auto measured = compare_stores::measure(card, store, load);
  FALAFEL_ASSERT(measured.has_value(), "{}", measured.error());
  return latencies_of(measured->samples);
}

Figure latencies_by_interval(const Profile& card) {
  Figure figure{.number = "9",
                .title = "Distribution of latencies by the interval of reports",
                .x = {.label = "microseconds", .logarithmic = true},
                .y = {.label = "percent of operations"}};
  constexpr std::array<std::uint64_t, 4> intervals_seconds{64, 16, 4, 1};
  std::array<std::vector<double>, intervals_seconds.size()> latencies;
  for (std::size_t index = 0; index < intervals_seconds.size(); ++index) {
    latencies.at(index) = latencies_with_reports(card, intervals_seconds.at(index));
    figure.series.push_back(distribution_curve(
        fmt::format("every {} s", intervals_seconds.at(index)), latencies.at(index)));
  }
  // The paper's curves overlap.
  for (const auto& [name, share] : {std::pair{"median", 0.5}, std::pair{"99 %", 0.99}}) {
    figure.comparisons.push_back(
        {fmt::format("{} with reports every second, times every 64 s", name), 1,
         quantile(latencies.back(), share) / quantile(latencies.front(), share)});
  }
  return figure;
}

// The time until the reporting client knows that the report has arrived: the WRITE is complete, or
// the server has replied.
Figure cost_of_report(const Profile& card) {
  Figure figure{.number = "10",
                .title = "Latency of a report by WRITE and by message",
                .x = {.label = "bytes of the report", .logarithmic = true},
                .y = {.label = "microseconds"}};
  Series writes{.name = "WRITE"};
  Series messages{.name = "message"};
  double most_times = 0;
  constexpr std::uint32_t least_bytes = 64;
  constexpr std::uint32_t most_bytes = 8'192;  // Options::container_bytes
  for (std::uint32_t bytes = least_bytes; bytes <= most_bytes; bytes *= 2) {
    const double write_us =
        measure_card(card, {.opcode = fabric::Opcode::write, .length_bytes = bytes}).latency_ns /
        1e3;
    const double message_us = measure_exchanges(card, {.request_bytes = bytes}).latency_ns / 1e3;
    writes.points.push_back({static_cast<double>(bytes), write_us});
    messages.points.push_back({static_cast<double>(bytes), message_us});
    most_times = std::max(most_times, message_us / write_us);
  }
  figure.comparisons = {{"a message, times a WRITE, most", 2.15, most_times}};
  figure.series = {std::move(writes), std::move(messages)};
  return figure;
}

}  // namespace

std::vector<Figure> predict_c_hint_reports(const Profile& card) {
  return {latencies_by_interval(card), cost_of_report(card)};
}

}  // namespace falafel::figures
