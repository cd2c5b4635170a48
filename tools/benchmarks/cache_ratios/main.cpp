// Prints a table of hit ratios of policies that decide which item leaves a full cache.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>

#include "tools/benchmarks/cache_ratios/policies.h"
#include "tools/benchmarks/cache_ratios/trace.h"

namespace falafel::cache_ratios {
namespace {

struct Row {
  std::string_view name;
  std::uint64_t hits_per_report;  // 0: the server hears of no hit
  std::function<std::unique_ptr<Policy>(std::uint64_t items, std::uint64_t capacity)> create;
};

std::unique_ptr<Policy> plain_clock(std::uint64_t items, std::uint64_t capacity) {
  return clock(items, capacity, 1);
}
std::unique_ptr<Policy> counting_clock(std::uint64_t items, std::uint64_t capacity) {
  return clock(items, capacity, 3);
}

constexpr std::array percents{1, 5, 10, 25};

void print_table(const Trace& trace) {
  const std::array rows{
      Row{"FIFO", 0, plain_clock},
      Row{"LRU", 1, least_recently_used},
      Row{"CLOCK", 1, plain_clock},
      Row{"CLOCK", 4, plain_clock},
      Row{"CLOCK", 16, plain_clock},
      Row{"CLOCK with counts to 3", 1, counting_clock},
      Row{"CLOCK with counts to 3", 4, counting_clock},
      Row{"W-TinyLFU", 1, window_tiny_lfu},
      Row{"W-TinyLFU", 4, window_tiny_lfu},
      Row{"W-TinyLFU", 16, window_tiny_lfu},
  };
  fmt::print("| Policy | Reported hits |");
  for (const int percent : percents) fmt::print(" {} % |", percent);
  fmt::print("\n| --- | --- |");
  for (std::size_t column = 0; column < percents.size(); ++column) fmt::print(" --: |");
  fmt::print("\n");
  for (const Row& row : rows) {
    fmt::print("| {} | {} |", row.name,
               row.hits_per_report == 0   ? "none"
               : row.hits_per_report == 1 ? "all"
                                          : fmt::format("1 of {}", row.hits_per_report));
    for (const int percent : percents) {
      Trace of_row = trace;
      of_row.hits_per_report = row.hits_per_report;
      const auto policy =
          row.create(trace.items, trace.items * static_cast<std::uint64_t>(percent) / 100);
      fmt::print(" {:.1f} |", 100 * hit_ratio(*policy, of_row));
    }
    fmt::print("\n");
  }
}

int run_program(int argc, char** argv) {
  CLI::App app{
      "Hit ratios of policies that decide which item leaves a full cache, in percent of all GETs. "
      "GETs are zipfian, and each one that misses adds its item. The columns are sizes of the "
      "cache in percent of all items.",
      "falafel-cache-ratios"};
  Trace trace;
  app.add_option("--items", trace.items, "how many different items there are")
      ->check(CLI::Range(std::uint64_t{200}, std::uint64_t{100'000'000}))
      ->capture_default_str();
  app.add_option("--gets", trace.gets, "how many GETs; the ratios are of the second half")
      ->check(CLI::Range(std::uint64_t{2}, std::uint64_t{1'000'000'000}))
      ->capture_default_str();
  app.add_option("--gets-per-shift", trace.gets_per_shift,
                 "after how many GETs other items become popular; 0: never")
      ->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  print_table(trace);
  return 0;
}

}  // namespace
}  // namespace falafel::cache_ratios

int main(int argc, char** argv) { return falafel::cache_ratios::run_program(argc, argv); }
