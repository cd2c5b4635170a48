#include "tools/scenarios/cluster/warm_restarts.h"

namespace falafel::cluster_scenario {

WarmRestarts::WarmRestarts(check::World& world)
    : watch_(world),
      compares_incarnations_(world.safeguard("same-incarnation")),
      keeps_copies_(world.safeguard("kept-copies")),
      warm_percent_(world.one_of<std::uint64_t>({50, 80, 100})),
      crash_percent_(world.one_of<std::uint64_t>({0, 2, 10})),
      orderly_percent_(world.one_of<std::uint64_t>({0, 50})),
      random_(world.choose(std::uint64_t{1} << 62U)) {}

Memory WarmRestarts::end_process(std::size_t server) {
  const Memory memory = random_.below(100) < warm_percent_ ? Memory::stays : Memory::is_lost;
  watch_.on_end_of_process(server, memory);
  return memory;
}

}  // namespace falafel::cluster_scenario
