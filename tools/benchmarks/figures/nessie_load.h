// A run of one of Nessie's versions in the setup of the paper (section 6), a fifth as large: three
// of 15 machines.
#pragma once

#include <cstdint>
#include <optional>
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
  // Processes of others on each machine, which never wait. All threads of a machine share its
  // processors if this has a value.
  std::optional<std::uint32_t> background_threads{};
};

inline constexpr std::uint32_t nessie_machines = 3;
// The paper's division of the 12 processors of a machine, one thread for each, as tuned by hand for
// each version and load (6).
std::uint32_t nessie_workers_per_machine(const NessieLoad& load);
std::uint32_t nessie_clients_per_machine(const NessieLoad& load);
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
