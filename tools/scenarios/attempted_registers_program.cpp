#include "tools/scenarios/attempted_registers_program.h"

#include <utility>
#include <vector>

namespace falafel::scenarios {
namespace {

// Most operations concern one key. Values have two words, so that they can tear; no two of a run
// are equal, with a high probability.
check::Workload<AttemptedRegisters> workload() {
  return {.clients = {2, 4},
          .operations = {1, 8},
          .draw = [](check::Draw& draw) -> AttemptedRegisters::Operation {
            const std::uint64_t kind = draw.below(8);
            const std::string key = key_of(draw.below(6) == 5 ? 1 : 0);
            if (kind < 4) return AttemptedRegisters::Get{key};
            if (kind < 5) return AttemptedRegisters::Remove{key};
            const std::string half = std::to_string(10'000'000 + draw.below(1'000'000));
            return AttemptedRegisters::Set{key, half + half};
          }};
}

std::vector<sim::FaultKind> faults() {
  std::vector<sim::FaultKind> kinds = check::delays();
  kinds.insert(kinds.end(), {sim::FaultKind::client_crash, sim::FaultKind::queue_pair_error,
                             sim::FaultKind::server_restart, sim::FaultKind::server_stop});
  return kinds;
}

}  // namespace

std::string key_of(std::uint64_t number) {
  return std::string(1, static_cast<char>('a' + static_cast<char>(number)));
}

std::unique_ptr<check::WorldProgram> make_program_of_registers(
    std::string name,
    std::function<void(check::World&, const check::Plan<AttemptedRegisters>&)> run,
    std::function<void(sim::SimulationOptions&)> adjust) {
  check::Network network = check::unscaled_network();
  network.faults = faults();
  network.adjust = [adjust = std::move(adjust)](sim::SimulationOptions& options) {
    // Most runs lose at most one node, because nothing can be learned without a majority.
    const bool loses_nodes = options.pct_steps % 2 == 0;
    options.set_fault_rate(sim::FaultKind::server_restart, loses_nodes ? 1'500 : 0);
    if (adjust) adjust(options);
  };
  return check::program<AttemptedRegisters>(std::move(name), workload(), std::move(run),
                                            std::move(network));
}

}  // namespace falafel::scenarios
