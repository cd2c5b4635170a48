// Shared memory as a backend of the conformance suite.
#include <memory>

#include "fabric/shm/process.h"
#include "tests/conformance/local_hosts.h"

namespace falafel::conformance {
namespace {

constexpr std::uint64_t memory_limit_bytes = std::uint64_t{1} << 28U;

RunHost make_run_host(const std::filesystem::path& directory) {
  auto created =
      shm::Process::create({.directory = directory, .memory_limit_bytes = memory_limit_bytes});
  FALAFEL_ASSERT(created.has_value(), "{}", created.error().detail);
  const std::shared_ptr<shm::Process> process = std::move(*created);
  return [process](const HostOfProgram& host) {
    auto made = process->create_host(host.description.name, host.description.device_count);
    FALAFEL_ASSERT(made.has_value(), "{}", made.error().detail);
    (*made)->run_program([&] { host.body(**made); });
  };
}

}  // namespace

std::vector<VariantPointer> backend_variants() {
  return local_variants(make_run_host,
                        {.notices_death = true,
                         .inlines_data = true,
                         .masked_atomics = true,
                         .keeps_memory = true,
                         .places_in_address_order = true,
                         .reads_at_once = true},
                        FALAFEL_RUNS_WITH_THREADS, FALAFEL_RUNS_WITH_PROCESSES);
}

}  // namespace falafel::conformance
