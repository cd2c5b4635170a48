// Runs a program whose loads and stores are steps of the simulator.
#include <falafel/explorer/check.h>
#include <falafel/simulated_verbs/programs.h>
#include <cstdio>

extern "C" int program_main(void);

int main() {
  const auto result = falafel::check::random({.name = "example", .schedules = 10},
                                             [](falafel::check::World& world) {
                                               falafel::simulated_verbs::Programs programs(world);
                                               programs.client("client", program_main);
                                               world.run();
                                             });
  std::printf("simulated_verbs: %s\n", result.holds() ? "ok" : result.story().c_str());
}
