// Figure 6 of the paper on Pilaf: the slots that a lookup visits, by load, with the hashes and the
// displacements of the store. No times, so no run.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "fabric/assert.h"
#include "fabric/random.h"
#include "stores/pilaf/displacement.h"
#include "tools/benchmarks/figures/pilaf_figures.h"

namespace falafel::figures {
namespace {

constexpr std::uint64_t probed_entries = 1 << 16;
constexpr std::uint32_t cuckoo_ways = 3;
constexpr std::uint32_t linear_ways = 1;
constexpr std::uint32_t most_kicks = 500;

// The keys of a table's slots, without their values.
class ProbedTable {
 public:
  explicit ProbedTable(std::uint32_t ways) : ways_(ways), slots_(probed_entries) {}

  void fill_to(double load) {
    while (static_cast<double>(keys_) < load * probed_entries) insert(keys_++);
  }

  struct Probes {
    double mean = 0;
    std::uint64_t most = 0;
  };
  Probes probes() const {
    Probes probes;
    std::uint64_t sum = 0;
    for (std::uint64_t key = 0; key < keys_; ++key) {
      const std::uint64_t own = probes_of(key);
      sum += own;
      probes.most = std::max(probes.most, own);
    }
    probes.mean = static_cast<double>(sum) / static_cast<double>(keys_);
    return probes;
  }

 private:
  pilaf::ProbeSequence sequence(std::uint64_t key) const {
    constexpr std::uint64_t seed = 1;
    return pilaf::slots_of(std::as_bytes(std::span(&key, 1)), seed, ways_, probed_entries);
  }

  std::uint64_t probes_of(std::uint64_t key) const {
    const pilaf::ProbeSequence slots = sequence(key);
    std::uint64_t index = 0;
    while (slots_[slots[index]] != key) ++index;
    return index + 1;
  }

  void insert(std::uint64_t key) {
    const auto chain = pilaf::plan_insertion(
        sequence(key),
        {.is_in_use = [this](std::uint64_t slot) { return slots_[slot].has_value(); },
         .slots_of_resident = [this](std::uint64_t slot) { return sequence(*slots_[slot]); }},
        most_kicks, [this](std::uint64_t bound) { return random_.below(bound); });
    FALAFEL_ASSERT(chain.has_value(), "key {} finds no slot", key);
    for (std::size_t index = chain->size(); index > 1; --index) {
      slots_[(*chain)[index - 1]] = slots_[(*chain)[index - 2]];
    }
    slots_[chain->front()] = key;
  }

  std::uint32_t ways_;
  std::vector<std::optional<std::uint64_t>> slots_;
  std::uint64_t keys_ = 0;
  fabric::RandomGenerator random_{1};
};

struct Hashing {
  std::string name;
  std::uint32_t ways;
  double mean;  // of the paper, of a table that is 75 % full
  double most;
};

}  // namespace

std::vector<Figure> predict_pilaf_probes() {
  constexpr double compared_load = 0.75;
  Figure figure{.number = "6",
                .title = "Probes of a lookup",
                .x = {.label = "load of the table"},
                .y = {.label = "probes", .logarithmic = true}};
  for (const Hashing& hashing :
       {Hashing{"3-way cuckoo", cuckoo_ways, 1.6, 3}, {"linear probing", linear_ways, 2.5, 213}}) {
    Series mean{.name = hashing.name + ", mean"};
    Series most{.name = hashing.name + ", most"};
    ProbedTable table(hashing.ways);
    for (const double load : {0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.65, 0.7, compared_load}) {
      table.fill_to(load);
      const ProbedTable::Probes probes = table.probes();
      mean.points.push_back({load, probes.mean});
      most.points.push_back({load, static_cast<double>(probes.most)});
    }
    figure.comparisons.push_back(
        {"mean, 75 % full, " + hashing.name, hashing.mean, mean.points.back().y});
    figure.comparisons.push_back(
        {"most, 75 % full, " + hashing.name, hashing.most, most.points.back().y});
    figure.series.push_back(std::move(mean));
    figure.series.push_back({.name = hashing.name + ", mean",
                             .points = {{compared_load, hashing.mean}},
                             .measured = true});
    figure.series.push_back(std::move(most));
    figure.series.push_back({.name = hashing.name + ", most",
                             .points = {{compared_load, hashing.most}},
                             .measured = true});
  }
  return {std::move(figure)};
}

}  // namespace falafel::figures
