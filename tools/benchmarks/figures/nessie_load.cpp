#include "tools/benchmarks/figures/nessie_load.h"

#include "fabric/assert.h"
#include "tools/benchmarks/compare_stores/nessie_store.h"

namespace falafel::figures {

using nessie::Architecture;

namespace {

constexpr std::uint64_t large_value_bytes = 32 * 1'024;

compare_stores::ComparedStore store_of(const NessieLoad& load, const nessie::Options& options) {
  constexpr std::string_view protocol = "published";
  if (options.is_client_driven()) return compare_stores::nessie_store(protocol, options);
  return compare_stores::nessie_store_with_workers(
      protocol, options, nessie_machines * nessie_workers_per_machine(load));
}

// Long enough that the operations at its ends do not count, and for many time slices.
std::uint64_t duration_of(const NessieLoad& load) {
  constexpr std::uint64_t long_ns = 100'000'000;
  const bool is_short =
      load.value_bytes < large_value_bytes && !load.keeps_samples && !load.background_threads;
  return is_short ? long_ns / 4 : long_ns;
}

}  // namespace

std::uint32_t nessie_workers_per_machine(const NessieLoad& load) {
  constexpr std::uint32_t many_gets_percent = 90;
  switch (load.architecture) {
    case Architecture::client_driven: return 0;
    case Architecture::server_driven: return load.value_bytes < 1'024 ? 3 : 2;
    case Architecture::hybrid:
      if (load.gets_percent >= many_gets_percent) return 1;
      return load.value_bytes <= large_value_bytes ? 3 : 2;
  }
  FALAFEL_ASSERT(false, "unknown architecture {}", static_cast<int>(load.architecture));
}

std::uint32_t nessie_clients_per_machine(const NessieLoad& load) {
  constexpr std::uint32_t processors = 12;
  return processors - nessie_workers_per_machine(load);
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
  const std::uint32_t clients = nessie_machines * nessie_clients_per_machine(nessie);
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
      .duration_ns = duration_of(nessie),
      .keeps_samples = nessie.keeps_samples};
  sim::timing::Profile profile = card;
  profile.conditions.polls_buffers = options.completion == nessie::Completion::watermark;
  if (nessie.background_threads) {
    profile.conditions.shares_processors = true;
    profile.conditions.background_threads = *nessie.background_threads;
  }
  const auto measured = compare_stores::measure(profile, store_of(nessie, options), load);
  FALAFEL_ASSERT(measured.has_value(), "{}", measured.error());
  return *measured;
}

compare_stores::Measurement measure_nessie(const sim::timing::Profile& card,
                                           const NessieLoad& load) {
  return measure_nessie(card, load, published_nessie_options(load.architecture));
}

}  // namespace falafel::figures
