#include "tools/benchmarks/figures/pilaf_figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>

#include "fabric/assert.h"
#include "tools/benchmarks/compare_stores/measurement.h"
#include "tools/benchmarks/figures/distribution.h"

namespace falafel::figures {
namespace {

using compare_stores::ComparedStore;
using compare_stores::Load;
using compare_stores::OperationSample;
using sim::timing::Profile;
using store_benchmark::Distribution;

constexpr std::uint64_t smallest_bytes = 16;
constexpr std::uint64_t kibibyte = 1'024;
constexpr std::array<std::uint64_t, 5> value_sizes{smallest_bytes, 64, 256, kibibyte, 4 * kibibyte};

// The setup of section 5.1. A table that is almost empty: with more than one probe per GET, the
// card could not serve as many GETs as the paper reports.
struct PilafLoad {
  std::uint32_t gets_percent = 100;
  std::uint64_t value_bytes = smallest_bytes;
  std::uint32_t clients = 40;
  double table_load = 0.1;
  std::string_view store = "pilaf";
  std::uint64_t keys = 4'000;
  Distribution distribution = Distribution::zipfian;
  bool keeps_samples = false;
};

ComparedStore published_pilaf(std::string_view name) {
  for (const ComparedStore& store : compare_stores::pilaf_stores()) {
    if (store.name == name && store.protocol == "published") return store;
  }
  FALAFEL_ASSERT(false, "no store is called {}", name);
}

compare_stores::Measurement run(const Profile& card, const PilafLoad& pilaf) {
  const Load load{.demand = {.clients = pilaf.clients,
                             .keys = pilaf.keys,
                             .key_bytes = 23,
                             .value_bytes = pilaf.value_bytes,
                             .table_load = pilaf.table_load},
                  .workload = {.name = "pilaf",
                               .percent = {pilaf.gets_percent, 100 - pilaf.gets_percent},
                               .distribution = pilaf.distribution},
                  .machines = 10,
                  .duration_ns = 10'000'000,
                  .keeps_samples = pilaf.keeps_samples};
  const auto measured = compare_stores::measure(card, published_pilaf(pilaf.store), load);
  FALAFEL_ASSERT(measured.has_value(), "{}", measured.error());
  return *measured;
}

double millions(const compare_stores::Measurement& measured) {
  return measured.operations_per_second / 1e6;
}

// A curve over the sizes of values.
Series by_size(const Profile& card, std::string name, PilafLoad load,
               double (*quantity)(const compare_stores::Measurement& measured)) {
  Series series{.name = std::move(name)};
  for (const std::uint64_t bytes : value_sizes) {
    load.value_bytes = bytes;
    series.points.push_back({static_cast<double>(bytes), quantity(run(card, load))});
  }
  return series;
}

double at(const Series& series, std::uint64_t bytes) {
  const auto point = std::ranges::find(series.points, static_cast<double>(bytes), &Point::x);
  FALAFEL_ASSERT(point != series.points.end(), "{} has no point at {} bytes", series.name, bytes);
  return point->y;
}

Series measured(std::string name, std::vector<Point> points) {
  return {.name = std::move(name), .points = std::move(points), .measured = true};
}

Axis size_axis() { return {.label = "size of the value in bytes", .logarithmic = true}; }

Figure rates_by_size(const Profile& card) {
  Figure figure{.number = "7",
                .title = "Throughput of GET and PUT, 40 clients",
                .x = size_axis(),
                .y = {.label = "million operations per second"}};
  const Series gets = by_size(card, "GET", {}, millions);
  const Series puts = by_size(card, "PUT", {.gets_percent = 0}, millions);
  const Series message_gets = by_size(card, "GET of Pilaf-VO", {.store = "pilaf-vo"}, millions);
  // At 4 KiB, the paper states 11.7 Gbit/s.
  constexpr double gigabits = 11.7;
  constexpr double value_kilobits = 4 * kibibyte * 8 / 1e3;
  const double large_gets = gigabits / value_kilobits;
  figure.comparisons = {
      {"GET, 16 bytes, Mops/s", 1.28, at(gets, smallest_bytes)},
      {"PUT, 16 bytes, Mops/s", 0.663, at(puts, smallest_bytes)},
      {"PUT, 1 KiB, Mops/s", 0.5, at(puts, kibibyte)},
      {"GET, 4 KiB, Gbit/s", gigabits, at(gets, 4 * kibibyte) * value_kilobits},
      {"PUT, 4 KiB, Gbit/s", gigabits, at(puts, 4 * kibibyte) * value_kilobits},
      {"GET of Pilaf-VO, 16 bytes, Mops/s", 0.663, at(message_gets, smallest_bytes)}};
  figure.series = {
      gets,
      measured("GET", {{smallest_bytes, 1.28}, {4 * kibibyte, large_gets}}),
      puts,
      measured("PUT", {{smallest_bytes, 0.663}, {kibibyte, 0.5}, {4 * kibibyte, large_gets}}),
      message_gets,
      measured("GET of Pilaf-VO", {{smallest_bytes, 0.663}})};
  return figure;
}

Figure latencies_by_size(const Profile& card) {
  Figure figure{.number = "8",
                .title = "Mean latency of GET and PUT, 10 clients",
                .x = size_axis(),
                .y = {.label = "microseconds"}};
  const Series gets = by_size(card, "GET", {.clients = 10},
                              [](const compare_stores::Measurement& one) { return one.get_us; });
  const Series puts = by_size(card, "PUT", {.gets_percent = 0, .clients = 10},
                              [](const compare_stores::Measurement& one) { return one.set_us; });
  figure.comparisons = {
      {"GET, 16 bytes, us", 12, at(gets, smallest_bytes)},
      {"PUT, 16 bytes, us", 15, at(puts, smallest_bytes)},
      {"GET, times PUT, 4 KiB", 1, at(gets, 4 * kibibyte) / at(puts, 4 * kibibyte)}};
  figure.series = {gets, measured("GET", {{smallest_bytes, 12}}), puts,
                   measured("PUT", {{smallest_bytes, 15}})};
  return figure;
}

// READs of a client that did not verify, in percent of its GETs.
double reread_percent(const Profile& card, std::uint64_t keys) {
  const compare_stores::Measurement mixture = run(card, {.gets_percent = 50,
                                                         .keys = keys,
                                                         .distribution = Distribution::uniform,
                                                         .keeps_samples = true});
  double gets = 0;
  double rereads = 0;
  for (const OperationSample& sample : mixture.samples) {
    if (!sample.is_get) continue;
    ++gets;
    rereads += static_cast<double>(sample.rereads);
  }
  return 100 * rereads / gets;
}

// Figure 10, one panel.
struct Mixture {
  std::string number;
  std::uint32_t gets_percent;
};

struct MixtureCurves {
  Figure figure;
  Series pilaf;
  Series messages;
};

MixtureCurves mixture(const Profile& card, const Mixture& mixture) {
  return {
      .figure = {.number = mixture.number,
                 .title = fmt::format("Throughput, {} % GETs", mixture.gets_percent),
                 .x = size_axis(),
                 .y = {.label = "million operations per second"}},
      .pilaf = by_size(card, "Pilaf", {.gets_percent = mixture.gets_percent}, millions),
      .messages = by_size(card, "Pilaf-VO",
                          {.gets_percent = mixture.gets_percent, .store = "pilaf-vo"}, millions)};
}

Figure mixture_of_gets(const Profile& card) {
  MixtureCurves curves = mixture(card, {"10a", 90});
  constexpr double pilaf = 1.3;
  constexpr double times_messages = 2.1;
  Figure& figure = curves.figure;
  figure.comparisons = {
      {"90 % GETs, 64 bytes, Mops/s", pilaf, at(curves.pilaf, 64)},
      {"90 % GETs, 64 bytes, Pilaf-VO, Mops/s", pilaf / times_messages, at(curves.messages, 64)},
      {"90 % GETs, 256 bytes, Mops/s", 1.0, at(curves.pilaf, 256)},
      {"90 % GETs, 4 KiB, times Pilaf-VO", 1.1,
       at(curves.pilaf, 4 * kibibyte) / at(curves.messages, 4 * kibibyte)}};
  figure.series = {curves.pilaf, measured("Pilaf", {{64, pilaf}, {256, 1.0}}), curves.messages,
                   measured("Pilaf-VO", {{64, pilaf / times_messages}})};
  return figure;
}

Figure mixture_of_halves(const Profile& card) {
  MixtureCurves curves = mixture(card, {"10b", 50});
  curves.figure.comparisons = {{"50 % GETs, 256 bytes, Mops/s", 1.3, at(curves.pilaf, 256)}};
  curves.figure.series = {curves.pilaf, measured("Pilaf", {{256, 1.3}}), curves.messages};
  return curves.figure;
}

Figure latency_distribution(const Profile& card) {
  Figure figure{.number = "11",
                .title = "Distribution of latencies, 90 % GETs, 1 KiB, 10 clients",
                .x = {.label = "microseconds"},
                .y = {.label = "percent of operations"}};
  PilafLoad load{.gets_percent = 90,
                 .value_bytes = kibibyte,
                 .clients = 10,
                 .table_load = 0.65,
                 .keeps_samples = true};
  const std::vector<double> pilaf = latencies_of(run(card, load).samples);
  load.store = "pilaf-vo";
  const std::vector<double> messages = latencies_of(run(card, load).samples);
  constexpr double median_us = 15;
  constexpr double most_us = 30;  // nine tenths
  figure.comparisons = {
      {"90 % GETs, 1 KiB, 10 clients, median, us", median_us, quantile(pilaf, 0.5)},
      {"the same, 90 %, us, at most", most_us, quantile(pilaf, 0.9)}};
  figure.series = {distribution_curve("Pilaf", pilaf), measured("Pilaf", {{median_us, 50}}),
                   distribution_curve("Pilaf-VO", messages)};
  return figure;
}

}  // namespace

std::vector<Figure> predict_pilaf_operations(const Profile& card) {
  return {rates_by_size(card), latencies_by_size(card)};
}

std::vector<Figure> predict_pilaf_races(const Profile& card) {
  Figure figure{.number = "9",
                .title = "GETs that read again, as many PUTs as GETs",
                .x = {.label = "keys", .logarithmic = true},
                .y = {.label = "percent of GETs"}};
  Series rereads{.name = "entries and extents"};
  constexpr std::uint64_t many_keys = 20'000;
  for (const std::uint64_t keys : {std::uint64_t{40}, std::uint64_t{100}, std::uint64_t{1'000},
                                   std::uint64_t{4'000}, many_keys}) {
    rereads.points.push_back({static_cast<double>(keys), reread_percent(card, keys)});
  }
  constexpr double most_percent = 0.01;
  figure.comparisons = {
      {"20,000 keys, percent of GETs, at most", most_percent, rereads.points.back().y}};
  figure.series = {rereads, measured("at most", {{many_keys, most_percent}})};
  return {std::move(figure)};
}

std::vector<Figure> predict_pilaf_mixtures(const Profile& card) {
  return {mixture_of_gets(card), mixture_of_halves(card), latency_distribution(card)};
}

}  // namespace falafel::figures
