// Runs a program that was written for libibverbs.
#include <falafel/explorer/check.h>
#include <falafel/simulated_verbs/programs.h>
#include <infiniband/verbs.h>
#include <cstdio>

namespace {

int list_devices() {
  int count = 0;
  ibv_device** const devices = ibv_get_device_list(&count);
  ibv_free_device_list(devices);
  return count == 1 ? 0 : 1;
}

}  // namespace

int main() {
  const auto result = falafel::check::random({.name = "example", .schedules = 10},
                                             [](falafel::check::World& world) {
                                               falafel::simulated_verbs::Programs programs(world);
                                               programs.client("client", list_devices);
                                               world.run();
                                             });
  std::printf("simulated_verbs: %s\n", result.holds() ? "ok" : result.story().c_str());
}
