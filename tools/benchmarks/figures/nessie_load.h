// A run of one of Nessie's versions in the setup of the paper (section 6), a fifth as large: three
// of 15 machines.
#pragma once

#include <cstdint>
#include <string_view>

#include "stores/nessie/options.h"
#include "tools/benchmarks/compare_stores/measurement.h"

namespace falafel::figures {

struct NessieLoad {
  nessie::Architecture architecture = nessie::Architecture::client_driven;
  std::uint64_t value_bytes = 16 * 1'024;
  std::uint32_t gets_percent = 50;
  store_benchmark::Distribution distribution = store_benchmark::Distribution::uniform;
  bool keeps_samples = false;
};

inline constexpr std::uint32_t nessie_machines = 3;
// NessieSD and NessieHY need processors for their workers.
std::uint32_t nessie_clients_per_machine(nessie::Architecture architecture);
// CD, SD or HY.
std::string_view nessie_short_name(nessie::Architecture architecture);

// As published, but for the entry of a PUT that gives up (docs/comparison.md).
nessie::Options published_nessie_options(nessie::Architecture architecture);
compare_stores::Measurement measure_nessie(const sim::timing::Profile& card,
                                           const NessieLoad& load);
// The same with other options.
compare_stores::Measurement measure_nessie(const sim::timing::Profile& card, const NessieLoad& load,
                                           const nessie::Options& options);

}  // namespace falafel::figures
