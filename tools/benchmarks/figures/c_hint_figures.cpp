#include "tools/benchmarks/figures/c_hint_figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>

#include "fabric/assert.h"
#include "tools/benchmarks/c_hint_ratios/trace.h"
#include "tools/benchmarks/compare_stores/c_hint_store.h"
#include "tools/benchmarks/compare_stores/measurement.h"

namespace falafel::figures {
namespace {

using c_hint_ratios::Ratios;
using sim::timing::Profile;

// A thousandth of the paper's pairs, operations, memory and times.
constexpr std::uint64_t scale = 1'000;
constexpr std::uint64_t items_per_gibibyte = 1'024;

struct Cache {
  std::uint64_t gibibytes = 1;
  std::uint64_t sets_per_hundred = 5;
};

Ratios ratios_of(std::string_view name, const Cache& cache) {
  const auto systems = c_hint_ratios::systems(cache.gibibytes * items_per_gibibyte, scale);
  const auto found = std::ranges::find(systems, name, &c_hint_ratios::System::name);
  FALAFEL_ASSERT(found != systems.end(), "no system is called {}", name);
  return c_hint_ratios::run(found->options, {.sets_per_hundred = cache.sets_per_hundred});
}

Axis cache_axis() { return {.label = "size of the cache in GiB", .logarithmic = true}; }

Series hits_by_size(std::string_view system, std::uint64_t sets_per_hundred) {
  Series series{.name = std::string(system)};
  for (const std::uint64_t gibibytes : {1U, 4U, 16U}) {
    const Cache cache{.gibibytes = gibibytes, .sets_per_hundred = sets_per_hundred};
    series.points.push_back({static_cast<double>(gibibytes), 100 * ratios_of(system, cache).hits});
  }
  return series;
}

// The series of figure 5, in this order.
enum System : std::uint8_t { original, lru, approximate_lru, multi_queue, c_hint };
constexpr std::array<std::string_view, 5> system_names{"Original", "LRU", "Approx-LRU", "MQ",
                                                       "C-Hint"};

Figure hits(std::string number, std::uint64_t sets_per_hundred) {
  Figure figure{.number = std::move(number),
                .title = fmt::format("All hits, {} % SETs", sets_per_hundred),
                .x = cache_axis(),
                .y = {.label = "percent of GETs"}};
  for (const std::string_view system : system_names) {
    figure.series.push_back(hits_by_size(system, sets_per_hundred));
  }
  constexpr double most_hits_of_original = 2;
  figure.comparisons.push_back(
      {fmt::format("{} % SETs, 1 GB, hits of Original, %, at most", sets_per_hundred),
       most_hits_of_original, figure.series[original].points.front().y});
  figure.series.push_back(
      {.name = "Original", .points = {{1, most_hits_of_original}}, .measured = true});
  return figure;
}

double of_smallest(const Figure& figure, System system) {
  return figure.series[system].points.front().y;
}

Series pointer_hits_by_size(std::string_view system) {
  Series series{.name = std::string(system)};
  for (const std::uint64_t gibibytes : {8U, 16U, 32U}) {
    series.points.push_back({static_cast<double>(gibibytes),
                             100 * ratios_of(system, {.gibibytes = gibibytes}).pointer_hits});
  }
  return series;
}

// The advantages of figures 6 and 8 are the largest of any size.
double largest(const Series& above, const Series& below, double (*difference)(double, double)) {
  double most = 0;
  for (std::size_t index = 0; index < above.points.size(); ++index) {
    most = std::max(most, difference(above.points[index].y, below.points[index].y));
  }
  return most;
}

double times(double above, double below) { return above / below; }
double points_more(double above, double below) { return above - below; }

compare_stores::Measurement measure(const Profile& card, c_hint::GetPath gets,
                                    std::uint32_t gets_percent, std::uint32_t clients,
                                    std::uint64_t value_bytes) {
  constexpr std::uint64_t few_keys = 32;
  const compare_stores::Load load{
      .demand = {.clients = clients, .keys = few_keys, .key_bytes = 23, .value_bytes = value_bytes},
      .workload = {.name = "c-hint",
                   .percent = {gets_percent, 100 - gets_percent},
                   .distribution = store_benchmark::Distribution::uniform},
      .machines = std::min(clients, 3U),
      .duration_ns = 2'000'000};
  const auto store =
      compare_stores::published_c_hint([gets](c_hint::Options& options) { options.gets = gets; });
  const auto measured = compare_stores::measure(card, store, load);
  FALAFEL_ASSERT(measured.has_value(), "{}", measured.error());
  return *measured;
}

// Panels of figure 2: the rate by clients, and the processor of the server.
Figure reads_against_messages(const Profile& card) {
  using c_hint::GetPath;
  Figure figure{.number = "2",
                .title = "Throughput, 99 % GETs of 24 bytes",
                .x = {.label = "clients", .logarithmic = true},
                .y = {.label = "million operations per second", .logarithmic = true}};
  Series reads{.name = "GETs by READ"};
  Series messages{.name = "GETs by message"};
  constexpr std::uint32_t most_clients = 32;
  for (std::uint32_t clients = 1; clients <= most_clients; clients *= 2) {
    const auto rate = [&](GetPath gets) {
      return measure(card, gets, 99, clients, 24).operations_per_second / 1e6;
    };
    reads.points.push_back({static_cast<double>(clients), rate(GetPath::reads)});
    messages.points.push_back({static_cast<double>(clients), rate(GetPath::messages)});
  }
  constexpr double times_messages = 16.2;
  figure.comparisons = {{"32 clients, GETs by READ, times by message", times_messages,
                         reads.points.back().y / messages.points.back().y}};
  figure.series = {std::move(reads), std::move(messages)};
  return figure;
}

struct Row {
  std::uint64_t kilobytes;
  double crc64_us;
  double read_us;
  double insert_us;
};
constexpr std::array rows{Row{1, 5.2, 4.3, 33.8}, Row{10, 40.3, 8.1, 45.4},
                          Row{100, 641.1, 26, 259.2}, Row{1'000, 5'122.7, 230.4, 1'539.5}};

Figure times_of_sizes(const Profile& card) {
  Figure table{.number = "table 1", .title = "CRC64, READ and insertion", .x = {}, .y = {}};
  for (const Row& row : rows) {
    constexpr std::uint64_t bytes_per_kilobyte = 1'000;
    const std::uint64_t bytes = row.kilobytes * bytes_per_kilobyte;
    const auto add = [&](std::string_view quantity, double paper, double predicted) {
      table.comparisons.push_back(
          {fmt::format("{}, {} KB, us", quantity, row.kilobytes), paper, predicted});
    };
    const auto run = [&](std::uint32_t gets_percent) {
      return measure(card, c_hint::GetPath::reads, gets_percent, 1, bytes);
    };
    add("CRC64", row.crc64_us,
        static_cast<double>(card.checksum_ps + bytes * card.crc64_check_ps_per_byte) / 1e6);
    add("GET by READ", row.read_us, run(100).get_us);
    add("SET by message", row.insert_us, run(0).set_us);
  }
  return table;
}

}  // namespace

std::vector<Figure> predict_c_hint_hits() {
  std::vector<Figure> panels{hits("5a", 0), hits("5b", 5), hits("5c", 10)};
  const auto ratio = [&panels](std::size_t panel, System above, System below) {
    return of_smallest(panels[panel], above) / of_smallest(panels[panel], below);
  };
  panels[0].comparisons.push_back(
      {"no SETs, 1 GB, hits, C-Hint, times LRU", 1.541, ratio(0, c_hint, lru)});
  panels[0].comparisons.push_back(
      {"no SETs, 1 GB, hits, C-Hint, times Approx-LRU", 1.546, ratio(0, c_hint, approximate_lru)});
  panels[1].comparisons.push_back(
      {"5 % SETs, 1 GB, hits, C-Hint, times MQ", 0.92, ratio(1, c_hint, multi_queue)});
  panels[2].comparisons.push_back(
      {"10 % SETs, 1 GB, hits of C-Hint, times those without SETs", 0.847,
       of_smallest(panels[2], c_hint) / of_smallest(panels[0], c_hint)});
  panels[2].comparisons.push_back(
      {"10 % SETs, 1 GB, hits of MQ, times those without SETs", 0.8,
       of_smallest(panels[2], multi_queue) / of_smallest(panels[0], multi_queue)});
  return panels;
}

std::vector<Figure> predict_c_hint_pointer_hits() {
  Figure figure{.number = "6",
                .title = "Hits by READ, 5 % SETs",
                .x = cache_axis(),
                .y = {.label = "percent of GETs"}};
  const Series c_hint_hits = pointer_hits_by_size("C-Hint");
  const Series approximate = pointer_hits_by_size("Approx-LRU");
  constexpr double most_hits = 47.4;
  const auto most = std::ranges::max(c_hint_hits.points, {}, &Point::y);
  figure.comparisons = {{"5 % SETs, hits by READ, most, %", most_hits, most.y}};
  figure.series = {
      c_hint_hits, {.name = "C-Hint", .points = {{16, most_hits}}, .measured = true}, approximate};
  Figure latencies{.number = "7", .title = "Latencies", .x = {}, .y = {}};
  latencies.comparisons = {
      {"5 % SETs, GETs by READ, %", 49.4, most.y},
      {"5 % SETs, GETs by READ, Approx-LRU, %", 24.2, approximate.points[1].y}};
  Figure terms{.number = "8", .title = "Latencies with fixed terms", .x = {}, .y = {}};
  for (const auto& [seconds, paper] :
       {std::pair{128, 2.6}, std::pair{32, 3.8}, std::pair{8, 6.1}}) {
    const Series fixed = pointer_hits_by_size(fmt::format("term of {} s", seconds));
    figure.comparisons.push_back(
        {fmt::format("hits by READ, times those of a term of {} s, most", seconds), paper,
         largest(c_hint_hits, fixed, times)});
    if (seconds != 8) {
      terms.comparisons.push_back(
          {fmt::format("GETs by READ, points more than with a term of {} s, most", seconds),
           seconds == 128 ? 24.2 : 26.7, largest(c_hint_hits, fixed, points_more)});
    }
    figure.series.push_back(fixed);
  }
  return {std::move(figure), std::move(latencies), std::move(terms)};
}

std::vector<Figure> predict_c_hint_times(const Profile& card) {
  return {reads_against_messages(card), times_of_sizes(card)};
}

}  // namespace falafel::figures
