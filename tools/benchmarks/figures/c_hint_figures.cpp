#include "tools/benchmarks/figures/c_hint_figures.h"

#include <algorithm>
#include <string_view>

#include "fabric/assert.h"
#include "tools/benchmarks/c_hint_ratios/trace.h"
#include "tools/benchmarks/compare_stores/measurement.h"

namespace falafel::figures {
namespace {

using c_hint_ratios::Ratios;

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

void add_ratios(std::vector<PaperComparison>& all) {
  constexpr Cache read_only{.sets_per_hundred = 0};
  const double hits = ratios_of("C-Hint", read_only).hits;
  all.push_back({"5", "no SETs, 1 GB, hits, C-Hint, times LRU", 1.541,
                 hits / ratios_of("LRU", read_only).hits});
  all.push_back({"5", "no SETs, 1 GB, hits, C-Hint, times Approx-LRU", 1.546,
                 hits / ratios_of("Approx-LRU", read_only).hits});
  constexpr Cache small{};
  all.push_back({"5", "5 % SETs, 1 GB, hits of Original, %, at most", 2,
                 100 * ratios_of("Original", small).hits});
  all.push_back({"5", "5 % SETs, 1 GB, hits, C-Hint, times MQ", 0.92,
                 ratios_of("C-Hint", small).hits / ratios_of("MQ", small).hits});
}

void add_pointer_ratios(std::vector<PaperComparison>& all) {
  constexpr Cache large{.gibibytes = 16};
  const auto by_read = [&](std::string_view name) { return ratios_of(name, large).pointer_hits; };
  const double of_c_hint = by_read("C-Hint");
  all.push_back({"6", "5 % SETs, hits by READ, %", 47.4, 100 * of_c_hint});
  all.push_back(
      {"6", "the same, times those of a term of 128 s", 2.6, of_c_hint / by_read("term of 128 s")});
  all.push_back(
      {"6", "the same, times those of a term of 32 s", 3.8, of_c_hint / by_read("term of 32 s")});
  all.push_back(
      {"6", "the same, times those of a term of 8 s", 6.1, of_c_hint / by_read("term of 8 s")});
  all.push_back({"7", "5 % SETs, GETs by READ, %", 49.4, 100 * of_c_hint});
  all.push_back({"7", "5 % SETs, GETs by READ, Approx-LRU, %", 24.2, 100 * by_read("Approx-LRU")});
}

compare_stores::Measurement measure_c_hint(const sim::timing::Profile& profile,
                                           std::uint32_t gets_percent) {
  constexpr std::uint64_t few_keys = 50;
  const compare_stores::Load load{
      .demand = {.clients = 1, .keys = few_keys, .key_bytes = 23, .value_bytes = 1'024},
      .workload = {.name = "c-hint",
                   .percent = {gets_percent, 100 - gets_percent},
                   .distribution = store_benchmark::Distribution::uniform},
      .machines = 1,
      .duration_ns = 1'000'000};
  const auto measured =
      compare_stores::measure(profile, compare_stores::c_hint_stores().front(), load);
  FALAFEL_ASSERT(measured.has_value(), "{}", measured.error());
  return *measured;
}

// One client, which has pointers to all keys.
void add_times(std::vector<PaperComparison>& all, const sim::timing::Profile& profile) {
  all.push_back({"table 1", "GET by READ, 1 KB, us", 4.3, measure_c_hint(profile, 100).get_us});
  all.push_back({"table 1", "SET by message, 1 KB, us", 33.8, measure_c_hint(profile, 0).set_us});
}

}  // namespace

std::vector<PaperComparison> compare_with_c_hint(const sim::timing::Profile& profile) {
  std::vector<PaperComparison> all;
  add_ratios(all);
  add_pointer_ratios(all);
  add_times(all, profile);
  return all;
}

}  // namespace falafel::figures
