// Sockets on the loopback address as a backend of the conformance suite. The suites that need RC
// are skipped.
#include <memory>

#include "fabric/stream/host.h"
#include "tests/conformance/local_hosts.h"
#include "tests/stream/service_files.h"

namespace falafel::conformance {
namespace {

RunHost make_run_host(const std::filesystem::path& directory) {
  const auto services = std::make_shared<stream_test::ServiceFiles>(directory);
  return [services](const HostOfProgram& host) {
    const auto made = stream::create_host({.name = host.description.name,
                                           .device_count = host.description.device_count,
                                           .listening_address = "127.0.0.1",
                                           .services = services.get()});
    made->run_program([&] { host.body(*made); });
  };
}

}  // namespace

std::vector<VariantPointer> backend_variants() {
  return local_variants(make_run_host,
                        {.notices_death = true,
                         .inlines_data = true,
                         .reliable_connection = false,
                         .message_stream = true,
                         .keeps_memory = true},
                        FALAFEL_RUNS_WITH_THREADS, FALAFEL_RUNS_WITH_PROCESSES);
}

}  // namespace falafel::conformance
