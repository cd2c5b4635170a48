#include "tools/benchmarks/figures/nessie_load.h"

#include "fabric/assert.h"
#include "tools/benchmarks/compare_stores/nessie_store.h"

namespace falafel::figures {

using nessie::Architecture;

std::uint32_t nessie_clients_per_machine(Architecture architecture) {
  return architecture == Architecture::client_driven ? 12 : 10;
}

std::string_view nessie_short_name(Architecture architecture) {
  switch (architecture) {
    case Architecture::client_driven: return "CD";
    case Architecture::server_driven: return "SD";
    case Architecture::hybrid: return "HY";
  }
  FALAFEL_ASSERT(false, "unknown architecture {}", static_cast<int>(architecture));
}

nessie::Options published_nessie_options(Architecture architecture) {
  nessie::Options options = nessie::Options::published(architecture);
  options.abort = nessie::Abort::restore;
  options.assumes_address_order = architecture != Architecture::client_driven;
  options.expiration_ns = 8'000'000;
  options.multi_read = false;  // most GETs of figure 8 have two RDMA operations
  return options;
}

compare_stores::Measurement measure_nessie(const sim::timing::Profile& card,
                                           const NessieLoad& nessie,
                                           const nessie::Options& options) {
  constexpr std::uint32_t keys_per_client = 100;
  constexpr std::uint64_t large_value_bytes = 32 * 1'024;
  const std::uint32_t clients = nessie_machines * nessie_clients_per_machine(nessie.architecture);
  const compare_stores::Load load{
      .demand = {.clients = clients,
                 .keys = clients * keys_per_client,
                 .key_bytes = 128,
                 .value_bytes = nessie.value_bytes,
                 .table_load = 0.4},
      .workload = {.name = "nessie",
                   .percent = {nessie.gets_percent, 100 - nessie.gets_percent},
                   .distribution = nessie.distribution},
      .machines = nessie_machines,
      .duration_ns = nessie.value_bytes < large_value_bytes ? 5'000'000U : 15'000'000U,
      .keeps_samples = nessie.keeps_samples};
  const auto measured =
      compare_stores::measure(card, compare_stores::nessie_store("published", options), load);
  FALAFEL_ASSERT(measured.has_value(), "{}", measured.error());
  return *measured;
}

compare_stores::Measurement measure_nessie(const sim::timing::Profile& card,
                                           const NessieLoad& load) {
  return measure_nessie(card, load, published_nessie_options(load.architecture));
}

}  // namespace falafel::figures
