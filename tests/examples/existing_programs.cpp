// The examples in headers of simulated_verbs/.
#include <cstdint>

#include "explorer/check.h"
#include "simulated_verbs/programs.h"

namespace falafel::examples {

// Programs that were written for libibverbs.
int server_main();
int client_main(const char* server, std::uint32_t number);

const check::Body run_programs =
    // simulated_verbs/programs.h
    [](check::World& world) {
      simulated_verbs::Programs programs(world);
      programs.server("server", [] { return server_main(); });
      programs.clients(2, [](std::uint32_t client) { return client_main("server", client); });
      world.run();
    };

}  // namespace falafel::examples
