// Figures 5.10 to 5.12 of the thesis: the latency of single operations by the size of the value.
#include <fmt/format.h>

#include <iterator>
#include <map>
#include <string>

#include "tools/benchmarks/figures/latency.h"
#include "tools/benchmarks/figures/predictions.h"

namespace falafel::figures {
namespace {

using sim::timing::Profile;

constexpr std::uint64_t small_bytes = 8;

// The latencies of all cases, by protocol and size.
using Latencies = std::map<std::string, std::map<std::uint64_t, std::vector<double>>>;

Latencies measure_all(const Profile& profile, const Effort& effort) {
  Latencies latencies;
  const std::vector<std::pair<std::string, engine::Safeguards>> protocols{
      {"published", engine::Safeguards::published()}, {"hardened", engine::Safeguards::hardened()}};
  for (const auto& [protocol, safeguards] : protocols) {
    for (const std::uint64_t bytes :
         {8U,   64U,   128U,  256U,  384U,  448U,  464U,   480U,   496U,   512U,   640U,
          768U, 1024U, 2048U, 4096U, 6144U, 8192U, 10240U, 12288U, 14336U, 16384U, 20480U}) {
      latencies[protocol][bytes] = measure_latencies(
          profile, bytes, {.safeguards = safeguards, .repetitions = 3, .seed = effort.seed});
    }
  }
  return latencies;
}

struct Extent {
  std::string number;
  std::string title;
  std::uint64_t most_bytes;
  std::size_t first_case;
  std::size_t end_case;
};

Figure make_figure(const Latencies& latencies, const Extent& extent) {
  Figure figure{.number = extent.number,
                .title = extent.title,
                .x = {.label = "size of the value in bytes", .logarithmic = true},
                .y = {.label = "latency in microseconds"}};
  for (std::size_t index = extent.first_case; index < extent.end_case; ++index) {
    const LatencyCase& latency_case = latency_cases()[index];
    const std::string name(latency_case.name);
    for (const auto& [protocol, by_size] : latencies) {
      Series series{.name = fmt::format("{}, {}", name, protocol), .protocol = protocol};
      for (const auto& [bytes, medians] : by_size) {
        if (bytes > extent.most_bytes) break;
        series.points.push_back({static_cast<double>(bytes), medians[index]});
      }
      figure.series.push_back(std::move(series));
    }
    figure.series.push_back({.name = name,
                             .points = {{static_cast<double>(small_bytes), latency_case.thesis_us}},
                             .measured = true});
  }
  return figure;
}

void compare_small_values(Figure& figure, const Latencies& latencies, const Extent& extent) {
  for (std::size_t index = extent.first_case; index < extent.end_case; ++index) {
    const LatencyCase& latency_case = latency_cases()[index];
    figure.comparisons.push_back({std::string(latency_case.name) + ", 8 bytes, us",
                                  latency_case.thesis_us,
                                  latencies.at("published").at(small_bytes)[index],
                                  latencies.at("hardened").at(small_bytes)[index]});
  }
}

// From which size of the value on a SET of an existing key takes longer than a GET.
double crossing_bytes(const Latencies& latencies, const std::string& protocol) {
  constexpr std::size_t get = 1;
  constexpr std::size_t set = 4;
  double crossing = 0;
  const auto& by_size = latencies.at(protocol);
  for (auto lower = by_size.begin(), upper = std::next(lower); upper != by_size.end();
       ++lower, ++upper) {
    const double gap_before = lower->second[set] - lower->second[get];
    const double gap_after = upper->second[set] - upper->second[get];
    if (gap_before >= 0 || gap_after < 0) continue;
    const auto distance = static_cast<double>(upper->first - lower->first);
    crossing = static_cast<double>(lower->first) + distance * gap_before / (gap_before - gap_after);
  }
  return crossing;
}

}  // namespace

std::vector<Figure> predict_latency(const Profile& profile, const Effort& effort) {
  const Latencies latencies = measure_all(profile, effort);
  const std::size_t first_delete = 6;
  const Extent small{"5.10", "Latency of GET and SET", 1024, 0, first_delete};
  const Extent large{"5.11", "Latency of GET and SET with larger values", 16'384, 0, first_delete};
  const Extent deletes{"5.12", "Latency of DELETE", 1024, first_delete, latency_cases().size()};
  std::vector<Figure> figures;
  for (const Extent& extent : {small, large, deletes}) {
    figures.push_back(make_figure(latencies, extent));
  }
  compare_small_values(figures[0], latencies, small);
  figures[1].comparisons = {{"SET passes GET, KiB", 15,
                             crossing_bytes(latencies, "published") / 1024,
                             crossing_bytes(latencies, "hardened") / 1024}};
  compare_small_values(figures[2], latencies, deletes);
  return figures;
}

}  // namespace falafel::figures
