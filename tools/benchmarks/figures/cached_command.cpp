// falafel-figures cached: the latency of GET, SET and DELETE of a key whose location the client
// remembers, beside the published and the hardened protocol without a location cache.
#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "tools/benchmarks/figures/card_option.h"
#include "tools/benchmarks/figures/drawing.h"
#include "tools/benchmarks/figures/figure.h"
#include "tools/benchmarks/figures/latency.h"
#include "tools/benchmarks/figures/timed_commands.h"

namespace falafel::figures {
namespace {

struct Variant {
  std::string name;
  LatencyOptions options;
};

struct Kind {
  std::string name;
  std::size_t number;  // among latency_cases()
};

constexpr std::uint32_t many_locations = 1 << 16;
constexpr std::array<std::uint64_t, 10> sizes{8,     64,    256,   512,    1'024,
                                              2'048, 4'096, 8'192, 12'288, 16'384};

std::vector<Variant> variants() {
  const engine::Safeguards hardened = engine::Safeguards::hardened();
  return {{"published", {.repetitions = 3}},
          {"hardened", {.safeguards = hardened, .repetitions = 3}},
          {"cached",
           {.safeguards = hardened, .location_cache_entries = many_locations, .repetitions = 3}}};
}

std::vector<Kind> kinds() {
  return {{"GET", 1}, {"GET, load 0.8", 2}, {"SET", 4}, {"SET, load 0.8", 5}, {"DELETE", 7}};
}

Figure predict(const sim::timing::Profile& profile) {
  Figure figure{.number = "cached",
                .title = "Latency of keys whose location is remembered",
                .x = {.label = "size of the value in bytes", .logarithmic = true},
                .y = {.label = "latency in microseconds"}};
  for (const Kind& kind : kinds()) {
    for (const Variant& variant : variants()) {
      figure.series.push_back(
          {.name = fmt::format("{}, {}", kind.name, variant.name), .protocol = variant.name});
    }
  }
  for (const std::uint64_t bytes : sizes) {
    std::vector<std::vector<double>> medians;
    for (const Variant& variant : variants()) {
      medians.push_back(measure_latencies(profile, bytes, variant.options));
    }
    std::size_t series = 0;
    for (const Kind& kind : kinds()) {
      for (const std::vector<double>& of_variant : medians) {
        figure.series[series++].points.push_back(
            {static_cast<double>(bytes), of_variant[kind.number]});
      }
    }
  }
  return figure;
}

void print_table(const Figure& figure) {
  fmt::print(
      "| Operation, us | Value in bytes | Published | Hardened | Cached |\n"
      "| --- | --: | --: | --: | --: |\n");
  const std::size_t per_kind = variants().size();
  for (std::size_t kind = 0; kind < kinds().size(); ++kind) {
    for (const std::uint64_t bytes : {sizes.front(), sizes[4], sizes[6]}) {
      fmt::print("| {} | {} |", kinds()[kind].name, bytes);
      for (std::size_t variant = 0; variant < per_kind; ++variant) {
        for (const Point& point : figure.series[kind * per_kind + variant].points) {
          if (point.x == static_cast<double>(bytes)) fmt::print(" {:.2f} |", point.y);
        }
      }
      fmt::print("\n");
    }
  }
}

}  // namespace

void add_cached_command(CLI::App& app) {
  const auto card = std::make_shared<std::string>("connectx3-qdr");
  const auto json = std::make_shared<bool>(false);
  const auto svg = std::make_shared<std::string>();
  CLI::App* const command = app.add_subcommand(
      "cached", "latency of keys whose location the client remembers, by value size");
  add_card_option(*command, *card);
  command->add_flag("--json", *json, "print the curves as JSON");
  command->add_option("--svg", *svg, "draw the curves into this folder, as cached.svg");
  command->callback([card, json, svg] {
    const std::vector<Figure> figures{predict(profile_of(*card))};
    if (*json) {
      fmt::print("{}\n", to_json(figures).dump(1));
    } else {
      print_table(figures.front());
    }
    if (svg->empty()) return;
    if (const auto problem = draw(figures, *svg)) throw CLI::ValidationError("--svg", *problem);
  });
}

}  // namespace falafel::figures
