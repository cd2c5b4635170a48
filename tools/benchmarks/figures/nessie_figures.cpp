#include "tools/benchmarks/figures/nessie_figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <string>
#include <utility>

#include "fabric/assert.h"
#include "tools/benchmarks/figures/distribution.h"
#include "tools/benchmarks/figures/nessie_load.h"

namespace falafel::figures {
namespace {

using compare_stores::OperationSample;
using nessie::Architecture;
using sim::timing::Profile;
using store_benchmark::Distribution;

constexpr std::uint64_t kibi = 1'024;
constexpr std::array architectures{Architecture::client_driven, Architecture::server_driven,
                                   Architecture::hybrid};

// Table 1: latencies in microseconds, and gigabytes sent in a run. These are of 2^30 bytes in a run
// of 112 s if NessieSD, each of whose operations sends one value, sends that and hardly more at
// 128 KiB. The paper states neither.
constexpr std::size_t size_count = 7;
constexpr std::array<std::uint64_t, size_count> sizes_kib{2, 4, 8, 16, 32, 64, 128};
struct PublishedVersion {
  Architecture architecture;
  std::array<double, size_count> get_us;
  std::array<double, size_count> put_us;
  std::array<double, size_count> all_us;
  std::array<double, size_count> sent_gigabytes;
};
constexpr std::array published_versions{
    PublishedVersion{.architecture = Architecture::client_driven,
                     .get_us = {19, 27, 46, 86, 172, 391, 811},
                     .put_us = {61, 83, 133, 233, 447, 858, 1'533},
                     .all_us = {40, 55, 89, 159, 310, 624, 1'172},
                     .sent_gigabytes = {514, 729, 877, 975, 999, 989, 1'053}},
    PublishedVersion{.architecture = Architecture::server_driven,
                     .get_us = {25, 43, 82, 184, 412, 875, 1'732},
                     .put_us = {25, 41, 77, 171, 381, 816, 1'602},
                     .all_us = {25, 42, 80, 178, 397, 846, 1'667},
                     .sent_gigabytes = {1'245, 1'503, 1'590, 1'439, 1'291, 1'212, 1'230}},
    PublishedVersion{.architecture = Architecture::hybrid,
                     .get_us = {24, 47, 109, 231, 524, 1'193, 2'455},
                     .put_us = {42, 42, 69, 129, 271, 709, 1'388},
                     .all_us = {33, 45, 89, 180, 398, 951, 1'922},
                     .sent_gigabytes = {957, 1'287, 1'461, 1'445, 1'314, 1'219, 1'208}}};

constexpr double machines_of_the_paper = 15;

// Value bytes of all operations of one machine, in gigabits per second.
double goodput(const compare_stores::Measurement& measured, std::uint64_t value_bytes) {
  return measured.operations_per_second * static_cast<double>(value_bytes) * 8 / 1e9 /
         nessie_machines;
}

double published_operations_per_second(const PublishedVersion& version, std::size_t size) {
  const double clients =
      machines_of_the_paper * nessie_clients_per_machine({.architecture = version.architecture,
                                                          .value_bytes = sizes_kib[size] * kibi});
  return clients * 1e6 / version.all_us[size];
}

double published_goodput(const PublishedVersion& version, std::size_t size) {
  const double operations_per_second = published_operations_per_second(version, size);
  return operations_per_second * static_cast<double>(sizes_kib[size] * kibi) * 8 / 1e9 /
         machines_of_the_paper;
}

Figure goodput_figure(std::string number, std::uint32_t gets_percent) {
  return {.number = std::move(number),
          .title = fmt::format("Goodput, uniform keys, {} % GETs", gets_percent),
          .x = {.label = "size of the value in KiB", .logarithmic = true},
          .y = {.label = "gigabits per second and machine"}};
}

// The ratio of two curves at a point that both have.
double ratio_at(const Series& above, const Series& below, double x) {
  const auto find = [x](const Series& series) {
    const auto point = std::ranges::find(series.points, x, &Point::x);
    FALAFEL_ASSERT(point != series.points.end(), "{} has no point at {}", series.name, x);
    return point->y;
  };
  return find(above) / find(below);
}

void add_row(Figure& table, const PublishedVersion& version, std::size_t size,
             const compare_stores::Measurement& measured) {
  constexpr double run_seconds = 112;
  constexpr double gigabyte = kibi * kibi * kibi;
  const auto add = [&](std::string_view quantity, double paper, double predicted) {
    table.comparisons.push_back(
        {fmt::format("{} {}, {} KiB", nessie_short_name(version.architecture), quantity,
                     sizes_kib[size]),
         paper, predicted});
  };
  add("GET, us", version.get_us[size], measured.get_us);
  add("PUT, us", version.put_us[size], measured.set_us);
  const double operations = run_seconds * published_operations_per_second(version, size);
  add("KB sent per operation", version.sent_gigabytes[size] * gigabyte / 1e3 / operations,
      measured.bytes / 1e3);
}

// The same with the paper's way of noticing that a READ is complete: by watermarks (4.1.1).
void add_watermark_rows(Figure& table, const Profile& card, const PublishedVersion& version,
                        std::size_t size) {
  nessie::Options options = published_nessie_options(version.architecture);
  options.completion = nessie::Completion::watermark;
  options.assumes_address_order = true;
  const NessieLoad load{.architecture = version.architecture,
                        .value_bytes = sizes_kib[size] * kibi};
  const compare_stores::Measurement measured = measure_nessie(card, load, options);
  const auto add = [&](std::string_view quantity, double paper, double predicted) {
    table.comparisons.push_back(
        {fmt::format("{} {}, us, {} KiB, by watermarks", nessie_short_name(version.architecture),
                     quantity, sizes_kib[size]),
         paper, predicted});
  };
  add("GET", version.get_us[size], measured.get_us);
  add("PUT", version.put_us[size], measured.set_us);
}

Series goodput_curve(const Profile& card, Architecture architecture, std::uint32_t gets_percent) {
  Series series{.name = std::string(nessie_short_name(architecture))};
  for (const std::uint64_t size : {2U, 8U, 16U, 32U, 128U}) {
    const NessieLoad load{
        .architecture = architecture, .value_bytes = size * kibi, .gets_percent = gets_percent};
    series.points.push_back(
        {static_cast<double>(size), goodput(measure_nessie(card, load), load.value_bytes)});
  }
  return series;
}

Figure mostly_gets(const Profile& card, std::string number, std::uint32_t gets_percent) {
  Figure figure = goodput_figure(std::move(number), gets_percent);
  for (const Architecture architecture : architectures) {
    figure.series.push_back(goodput_curve(card, architecture, gets_percent));
  }
  for (const double size : {16.0, 128.0}) {
    figure.comparisons.push_back(
        {fmt::format("{} % GETs, CD, times SD, {} KiB", gets_percent, size), 1,
         ratio_at(figure.series[0], figure.series[1], size)});
  }
  return figure;
}

// Values of single operations, ascending.
std::vector<double> values_of(const compare_stores::Measurement& measured, bool gets,
                              std::uint64_t OperationSample::*quantity, double unit) {
  std::vector<double> values;
  for (const OperationSample& sample : measured.samples) {
    if (sample.is_get == gets) values.push_back(static_cast<double>(sample.*quantity) / unit);
  }
  std::ranges::sort(values);
  return values;
}

double percent_above(const std::vector<double>& ascending, double bound) {
  const auto above = ascending.end() - std::ranges::upper_bound(ascending, bound);
  return 100 * static_cast<double>(above) / static_cast<double>(ascending.size());
}

struct NessiePanel {
  std::string number;
  std::string title;
  std::string unit_label;
  bool gets;
  std::uint64_t OperationSample::*quantity;
  double unit;
};

using ByVersion = std::map<Architecture, std::vector<double>>;

std::pair<Figure, ByVersion> distribution_of(
    const NessiePanel& panel, const std::map<Architecture, compare_stores::Measurement>& runs) {
  Figure figure{.number = panel.number,
                .title = panel.title + ", 50 % GETs, 16 KiB",
                .x = {.label = panel.unit_label},
                .y = {.label = "percent of operations"}};
  ByVersion values;
  for (const auto& [architecture, measured] : runs) {
    std::vector<double>& own = values[architecture];
    own = values_of(measured, panel.gets, panel.quantity, panel.unit);
    figure.series.push_back(distribution_curve(std::string(nessie_short_name(architecture)), own));
  }
  return {std::move(figure), std::move(values)};
}

// The mechanisms of 4.3.1, one more in each step (figure 13).
std::vector<std::pair<std::string, nessie::Options>> mechanisms() {
  nessie::Options options = published_nessie_options(Architecture::client_driven);
  const std::uint32_t filter_bits = options.filter_bits;
  const auto cache_entries = options.cache_entries;
  options.filter_bits = 0;
  options.cache_entries = 0;
  options.previous_versions = false;
  std::vector<std::pair<std::string, nessie::Options>> steps{{"basic", options}};
  options.filter_bits = filter_bits;
  steps.emplace_back("filter", options);
  options.cache_entries = cache_entries;
  steps.emplace_back("caching", options);
  options.previous_versions = true;
  steps.emplace_back("previous versions", options);
  options.multi_read = true;
  steps.emplace_back("multiple READs", options);
  return steps;
}

Figure gains(const Profile& card) {
  Figure figure{.number = "13",
                .title =
                    "Goodput with one more mechanism in each step (filter, caching, previous "
                    "versions, multiple READs), Zipf, 16 KiB",
                .x = {.label = "mechanisms"},
                .y = {.label = "gigabits per second and machine"}};
  for (const auto& [gets_percent, paper] : {std::pair{50U, 1.6}, std::pair{99U, 1.9}}) {
    Series series{.name = fmt::format("{} % GETs", gets_percent)};
    for (const auto& [name, options] : mechanisms()) {
      const NessieLoad load{.gets_percent = gets_percent, .distribution = Distribution::zipfian};
      series.points.push_back({static_cast<double>(series.points.size()),
                               goodput(measure_nessie(card, load, options), load.value_bytes)});
    }
    figure.comparisons.push_back(
        {fmt::format("{} % GETs, Zipf, all mechanisms, times none", gets_percent), paper,
         series.points.back().y / series.points.front().y});
    figure.series.push_back(std::move(series));
  }
  return figure;
}

Figure zipf_ratios(const Profile& card) {
  Figure figure{.number = "12",
                .title = "Goodput of NessieCD over NessieSD, Zipf",
                .x = {.label = "size of the value in KiB", .logarithmic = true},
                .y = {.label = "times NessieSD"}};
  nessie::Options all_mechanisms = published_nessie_options(Architecture::client_driven);
  all_mechanisms.multi_read = true;
  constexpr double small_kib = 0.25;
  constexpr double large_kib = 64;
  for (const std::uint32_t gets_percent : {50U, 90U, 99U}) {
    Series series{.name = fmt::format("{} % GETs", gets_percent)};
    for (const double size : {small_kib, 2.0, 16.0, large_kib}) {
      NessieLoad load{.value_bytes = static_cast<std::uint64_t>(size * kibi),
                      .gets_percent = gets_percent,
                      .distribution = Distribution::zipfian};
      const double client_driven = goodput(measure_nessie(card, load, all_mechanisms), 1);
      load.architecture = Architecture::server_driven;
      series.points.push_back({size, client_driven / goodput(measure_nessie(card, load), 1)});
    }
    figure.series.push_back(std::move(series));
  }
  figure.comparisons = {{"50 % GETs, 64 KiB, CD, times SD", 1.5, figure.series[0].points.back().y},
                        {"99 % GETs, 64 KiB, CD, times SD", 1.4, figure.series[2].points.back().y}};
  return figure;
}

}  // namespace

std::vector<Figure> predict_nessie_sizes(const Profile& card) {
  constexpr std::uint32_t half = 50;
  Figure table{.number = "table 1", .title = "Latencies and bytes", .x = {}, .y = {}};
  Figure figure = goodput_figure("5", half);
  for (const PublishedVersion& version : published_versions) {
    const std::string name(nessie_short_name(version.architecture));
    Series predicted{.name = name};
    Series paper{.name = name, .measured = true};
    for (std::size_t size = 0; size < sizes_kib.size(); ++size) {
      const NessieLoad load{.architecture = version.architecture,
                            .value_bytes = sizes_kib[size] * kibi};
      const compare_stores::Measurement measured = measure_nessie(card, load);
      add_row(table, version, size, measured);
      const auto x = static_cast<double>(sizes_kib[size]);
      predicted.points.push_back({x, goodput(measured, load.value_bytes)});
      paper.points.push_back({x, published_goodput(version, size)});
    }
    figure.series.push_back(std::move(predicted));
    figure.series.push_back(std::move(paper));
  }
  // NessieSD READs nothing.
  for (const PublishedVersion& version : {published_versions[0], published_versions[2]}) {
    for (const std::size_t size : {0U, 3U, 6U}) add_watermark_rows(table, card, version, size);
  }
  // The curves of CD and SD are the first and the third.
  figure.comparisons = {
      {"CD, times SD, 2 KiB", 0.7, ratio_at(figure.series[0], figure.series[2], 2)},
      {"CD, times SD, 8 KiB", 1.08, ratio_at(figure.series[0], figure.series[2], 8)},
      {"CD, times SD, 128 KiB", 1.7, ratio_at(figure.series[0], figure.series[2], 128)}};
  return {std::move(figure), std::move(table)};
}

std::vector<Figure> predict_nessie_gets(const Profile& card) {
  return {mostly_gets(card, "6", 90), mostly_gets(card, "7", 99)};
}

std::vector<Figure> predict_nessie_operations(const Profile& card) {
  std::map<Architecture, compare_stores::Measurement> runs;
  for (const Architecture architecture : architectures) {
    runs[architecture] =
        measure_nessie(card, {.architecture = architecture, .keeps_samples = true});
  }
  const auto requests = &OperationSample::requests;
  const auto bytes = &OperationSample::bytes;
  constexpr double value_bytes = 16 * kibi;
  auto [gets, get_counts] =
      distribution_of({"8", "RDMA operations per GET", "RDMA operations", true, requests, 1}, runs);
  auto [puts, put_counts] = distribution_of(
      {"9", "RDMA operations per PUT", "RDMA operations", false, requests, 1}, runs);
  auto [get_bytes, get_values] =
      distribution_of({"10", "Bytes per GET", "values", true, bytes, value_bytes}, runs);
  auto [put_bytes, put_values] =
      distribution_of({"11", "Bytes per PUT", "values", false, bytes, value_bytes}, runs);
  gets.comparisons = {
      {"CD, median of a GET", 2, quantile(get_counts[Architecture::client_driven], 0.5)},
      {"SD, median of a GET", 2, quantile(get_counts[Architecture::server_driven], 0.5)}};
  puts.comparisons = {
      {"CD, fewest of a PUT", 6, put_counts[Architecture::client_driven].front()},
      {"SD, median of a PUT", 2, quantile(put_counts[Architecture::server_driven], 0.5)},
      {"HY, median of a PUT", 2, quantile(put_counts[Architecture::hybrid], 0.5)}};
  constexpr double more_than_one_value = 1.5;
  constexpr double more_than_two_values = 2.5;
  get_bytes.comparisons = {{"HY, GETs of two values or more, %", 20,
                            percent_above(get_values[Architecture::hybrid], more_than_one_value)},
                           {"HY, GETs of three values, %", 5,
                            percent_above(get_values[Architecture::hybrid], more_than_two_values)}};
  put_bytes.comparisons = {
      {"SD, median of a PUT, values", 1, quantile(put_values[Architecture::server_driven], 0.5)}};
  return {std::move(gets), std::move(puts), std::move(get_bytes), std::move(put_bytes)};
}

std::vector<Figure> predict_nessie_zipf(const Profile& card) {
  return {zipf_ratios(card), gains(card)};
}

}  // namespace falafel::figures
