// Prints a table of hit ratios of C-Hint and the systems that it is compared with.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdint>
#include <vector>

#include "tools/benchmarks/c_hint_ratios/trace.h"

namespace falafel::c_hint_ratios {
namespace {

// A gibibyte of the paper's memory for 80 million pairs of about a kibibyte is 1,024 items of
// 80,000.
constexpr std::uint64_t items_per_gibibyte = 1'024;
constexpr std::uint64_t factor = 1'000;

void print_table(const Trace& trace, const std::vector<std::uint64_t>& sizes) {
  fmt::print("| System |");
  for (const std::uint64_t size : sizes) fmt::print(" {} GiB |", size);
  fmt::print("\n| --- |");
  for (std::size_t column = 0; column < sizes.size(); ++column) fmt::print(" --: |");
  fmt::print("\n");
  const std::size_t count = systems(items_per_gibibyte, factor).size();
  for (std::size_t number = 0; number < count; ++number) {
    fmt::print("| {} |", systems(items_per_gibibyte, factor)[number].name);
    for (const std::uint64_t size : sizes) {
      const System system = systems(size * items_per_gibibyte, factor)[number];
      const Ratios ratios = run(system.options, trace);
      fmt::print(" {:.1f} ({:.1f}) |", 100 * ratios.hits, 100 * ratios.pointer_hits);
    }
    fmt::print("\n");
  }
}

int run_program(int argc, char** argv) {
  CLI::App app{
      "Hit ratios of C-Hint and the systems that it is compared with, in percent of all "
      "GETs: all hits, and in parentheses those by READ. GETs are zipfian, SETs uniform, "
      "after all pairs have been stored. Everything is a thousandth of the paper's experiment.",
      "falafel-c-hint-ratios"};
  Trace trace;
  std::vector<std::uint64_t> sizes{1, 4, 16, 32};
  app.add_option("--sets", trace.sets_per_hundred, "SETs per hundred operations")
      ->check(CLI::Range(0, 99))
      ->capture_default_str();
  app.add_option("--sizes", sizes, "sizes of the cache in GiB of the paper; powers of two")
      ->check(CLI::IsMember({1, 2, 4, 8, 16, 32, 64}))
      ->delimiter(',')
      ->capture_default_str();
  app.add_option("--operations-per-second", trace.operations_per_second,
                 "how fast the trace runs, which decides how many operations a lease lasts")
      ->check(CLI::Range(std::uint64_t{1'000}, std::uint64_t{1'000'000'000}))
      ->capture_default_str();
  app.add_flag("!--without-load", trace.stores_all_first,
               "starts with an empty cache; otherwise clients first store all pairs");
  app.add_flag_callback(
      "--popular-first", [&] { trace.popularity = Popularity::by_number; },
      "pairs are the more popular the lower their number; otherwise popular ones are scattered");
  CLI11_PARSE(app, argc, argv);
  print_table(trace, sizes);
  return 0;
}

}  // namespace
}  // namespace falafel::c_hint_ratios

int main(int argc, char** argv) { return falafel::c_hint_ratios::run_program(argc, argv); }
