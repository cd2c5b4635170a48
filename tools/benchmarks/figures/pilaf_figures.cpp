#include "tools/benchmarks/figures/pilaf_figures.h"

#include "fabric/assert.h"
#include "tools/benchmarks/compare_stores/measurement.h"

namespace falafel::figures {
namespace {

using compare_stores::ComparedStore;
using compare_stores::Load;
using store_benchmark::Distribution;

constexpr double bits_per_byte = 8;

// The setup of section 5.1. A table that is almost empty: with more than one probe per GET, the
// card could not serve as many GETs as the paper reports.
struct PilafLoad {
  std::uint32_t gets_percent = 100;
  std::uint64_t value_bytes = 16;
  std::uint32_t clients = 40;
  double table_load = 0.1;
  std::string_view store = "pilaf";
};

ComparedStore published_pilaf(std::string_view name) {
  for (const ComparedStore& store : compare_stores::pilaf_stores()) {
    if (store.name == name && store.protocol == "published") return store;
  }
  FALAFEL_ASSERT(false, "no store is called {}", name);
}

compare_stores::Measurement run(const sim::timing::Profile& profile, const PilafLoad& pilaf) {
  const Load load{.demand = {.clients = pilaf.clients,
                             .keys = 4'000,
                             .key_bytes = 23,
                             .value_bytes = pilaf.value_bytes,
                             .table_load = pilaf.table_load},
                  .workload = {.name = "pilaf",
                               .percent = {pilaf.gets_percent, 100 - pilaf.gets_percent},
                               .distribution = Distribution::zipfian},
                  .machines = 10,
                  .duration_ns = 10'000'000};
  const auto measured = compare_stores::measure(profile, published_pilaf(pilaf.store), load);
  FALAFEL_ASSERT(measured.has_value(), "{}", measured.error());
  return *measured;
}

double millions(const sim::timing::Profile& profile, const PilafLoad& pilaf) {
  return run(profile, pilaf).operations_per_second / 1e6;
}

// Figures 6 to 8: one kind of operation.
void add_operations(std::vector<PaperComparison>& all, const sim::timing::Profile& profile) {
  const auto rate = [&](const PilafLoad& load) { return millions(profile, load); };
  const auto latency_us = [&](const PilafLoad& load) { return run(profile, load).median_us; };
  all.push_back({"6", "probes per lookup, table 75 % full", 1.6,
                 run(profile, {.clients = 1, .table_load = 0.75}).round_trips / 2});
  all.push_back({"7", "GET, 16 bytes, Mops/s", 1.28, rate({})});
  all.push_back({"7", "PUT, 16 bytes, Mops/s", 0.663, rate({.gets_percent = 0})});
  all.push_back({"7", "PUT, 1 KiB, Mops/s", 0.5, rate({.gets_percent = 0, .value_bytes = 1'024})});
  all.push_back({"7", "GET, 4 KiB, Gbit/s", 11.7,
                 rate({.value_bytes = 4'096}) * 4'096 * bits_per_byte / 1e3});
  all.push_back({"7", "GET of Pilaf-VO, 16 bytes, Mops/s", 0.663, rate({.store = "pilaf-vo"})});
  all.push_back({"8", "GET, 10 clients, us", 12, latency_us({.clients = 10})});
  all.push_back({"8", "PUT, 10 clients, us", 15, latency_us({.gets_percent = 0, .clients = 10})});
}

// Figures 10 and 11: mixtures. A table of figure 11 is 65 % full.
void add_mixtures(std::vector<PaperComparison>& all, const sim::timing::Profile& profile) {
  const auto rate = [&](const PilafLoad& load) { return millions(profile, load); };
  constexpr std::uint32_t mostly_gets = 90;
  all.push_back({"10a", "90 % GETs, 64 bytes, Mops/s", 1.3, rate({mostly_gets, 64})});
  all.push_back({"10a", "90 % GETs, 64 bytes, Pilaf-VO, Mops/s", 1.3 / 2.1,
                 rate({.gets_percent = mostly_gets, .value_bytes = 64, .store = "pilaf-vo"})});
  all.push_back({"10a", "90 % GETs, 256 bytes, Mops/s", 1.0, rate({mostly_gets, 256})});
  all.push_back(
      {"10a", "90 % GETs, 4 KiB, times Pilaf-VO", 1.1,
       rate({mostly_gets, 4'096}) /
           rate({.gets_percent = mostly_gets, .value_bytes = 4'096, .store = "pilaf-vo"})});
  all.push_back({"10b", "50 % GETs, 256 bytes, Mops/s", 1.3, rate({50, 256})});
  all.push_back({"11", "90 % GETs, 1 KiB, 10 clients, median, us", 15,
                 run(profile, {mostly_gets, 1'024, 10, 0.65}).median_us});
}

}  // namespace

std::vector<PaperComparison> compare_with_pilaf(const sim::timing::Profile& profile) {
  std::vector<PaperComparison> all;
  add_operations(all, profile);
  add_mixtures(all, profile);
  return all;
}

}  // namespace falafel::figures
