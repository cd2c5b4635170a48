#include "tools/benchmarks/figures/nessie_figures.h"

#include <fmt/format.h>

#include <array>

#include "fabric/assert.h"
#include "tools/benchmarks/compare_stores/measurement.h"
#include "tools/benchmarks/compare_stores/nessie_store.h"

namespace falafel::figures {
namespace {

using compare_stores::Load;
using store_benchmark::Distribution;

constexpr std::uint64_t kibi = 1'024;

// A fifth of the paper's 15 machines with 12 clients each. Each client is a node of its own.
struct NessieLoad {
  std::uint64_t value_bytes = 16 * kibi;
  std::uint32_t gets_percent = 50;
  Distribution distribution = Distribution::uniform;
};

// As published, but for the entry of a PUT that gives up (docs/comparison.md).
nessie::Options published_options() {
  nessie::Options options;
  options.abort = nessie::Abort::restore;
  options.expiration_ns = 8'000'000;
  options.multi_read = false;  // most GETs of figure 8 have two RDMA operations
  return options;
}

compare_stores::Measurement measure_nessie(const sim::timing::Profile& profile,
                                           const NessieLoad& nessie,
                                           const nessie::Options& options) {
  const Load load{.demand = {.clients = 36,
                             .keys = 3'600,
                             .key_bytes = 128,
                             .value_bytes = nessie.value_bytes,
                             .table_load = 0.4},
                  .workload = {.name = "nessie",
                               .percent = {nessie.gets_percent, 100 - nessie.gets_percent},
                               .distribution = nessie.distribution},
                  .machines = 3,
                  .duration_ns = 10'000'000};
  const auto measured =
      compare_stores::measure(profile, compare_stores::nessie_store("published", options), load);
  FALAFEL_ASSERT(measured.has_value(), "{}", measured.error());
  return *measured;
}

struct Row {
  std::uint64_t value_kibibytes;
  double get_us;
  double put_us;
  double sent_gigabytes;  // in the paper's run of 112 s
};
// Table 1 of the paper, NessieCD.
constexpr std::array rows{Row{2, 19, 61, 514}, Row{8, 46, 133, 877}, Row{32, 172, 447, 999}};

void add_latencies(std::vector<PaperComparison>& all, const sim::timing::Profile& profile) {
  constexpr double run_seconds = 112;
  constexpr double clients = 180;
  for (const Row& row : rows) {
    const compare_stores::Measurement cost =
        measure_nessie(profile, {.value_bytes = row.value_kibibytes * kibi}, published_options());
    const auto add = [&](std::string_view quantity, double paper, double predicted) {
      all.push_back(
          {"table 1", fmt::format("{}, {} KiB", quantity, row.value_kibibytes), paper, predicted});
    };
    const double all_us = (row.get_us + row.put_us) / 2;
    const double operations = run_seconds * clients * 1e6 / all_us;
    add("GET, us", row.get_us, cost.get_us);
    add("PUT, us", row.put_us, cost.set_us);
    add("PUT, times GET", row.put_us / row.get_us, cost.set_us / cost.get_us);
    add("KB sent per operation", row.sent_gigabytes * 1e6 / operations, cost.bytes / 1e3);
  }
}

void add_operation_counts(std::vector<PaperComparison>& all, const sim::timing::Profile& profile) {
  const auto verbs = [&](std::uint32_t gets_percent) {
    return measure_nessie(profile, {.gets_percent = gets_percent}, published_options()).verbs;
  };
  all.push_back({"8", "RDMA operations per GET, most", 2, verbs(100)});
  all.push_back({"9", "RDMA operations per PUT, at least", 6, verbs(0)});
}

void add_mechanisms(std::vector<PaperComparison>& all, const sim::timing::Profile& profile) {
  nessie::Options complete = published_options();
  complete.multi_read = true;
  nessie::Options basic = published_options();
  basic.filter_bits = 0;
  basic.cache_entries = 0;
  basic.previous_versions = false;
  const auto gain = [&](std::uint32_t gets_percent) {
    const NessieLoad load{.gets_percent = gets_percent, .distribution = Distribution::zipfian};
    return measure_nessie(profile, load, complete).operations_per_second /
           measure_nessie(profile, load, basic).operations_per_second;
  };
  all.push_back({"13", "50 % GETs, Zipf, all mechanisms, times none", 1.6, gain(50)});
  all.push_back({"13", "99 % GETs, Zipf, all mechanisms, times none", 1.9, gain(99)});
}

}  // namespace

std::vector<PaperComparison> compare_with_nessie(const sim::timing::Profile& profile) {
  std::vector<PaperComparison> all;
  add_latencies(all, profile);
  add_operation_counts(all, profile);
  add_mechanisms(all, profile);
  return all;
}

}  // namespace falafel::figures
