// Runs a test body.
#include <falafel/explorer/check.h>
#include <cstdio>

int main() {
  const auto result = falafel::check::random(
      {.name = "example", .schedules = 10}, [](falafel::check::World& world) {
        world.client("client", [](falafel::fabric::Host& host) { host.yield(); });
        world.run();
      });
  std::printf("explorer: %s\n", result.holds() ? "ok" : result.story().c_str());
}
