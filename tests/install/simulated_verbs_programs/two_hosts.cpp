// Runs a program with a global variable as two hosts.
#include <falafel/explorer/check.h>
#include <falafel/simulated_verbs/program.h>
#include <falafel/simulated_verbs/programs.h>
#include <cstdio>

int main() {
  using falafel::simulated_verbs::Program;
  const auto result = falafel::check::random({.name = "example", .schedules = 10},
                                             [](falafel::check::World& world) {
                                               falafel::simulated_verbs::Programs programs(world);
                                               programs.client("left", Program("counter", {"x"}));
                                               programs.client("right", Program("counter", {"x"}));
                                               world.run();
                                             });
  std::printf("simulated_verbs: %s\n", result.holds() ? "ok" : result.story().c_str());
}
