// NessieCD, NessieSD and NessieHY (stores/nessie) as programs for the explorer: a few nodes with
// small tables, whose clients get, put and delete a few keys.
//
// A run must be linearizable (each attempt of an operation is a call of its own), it must end, and
// the memory at rest must satisfy the invariants of stores/nessie/invariants.h. With all
// safeguards, no ITE is swapped that has changed and changed back.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "explorer/check/program.h"
#include "fabric/sim/options/options.h"
#include "stores/nessie/options.h"

namespace falafel::nessie_scenario {

enum class Variant : std::uint8_t {
  hardened,  // all safeguards; ablation switches them off one at a time
  published  // the protocol of the paper, with the readings that it leaves open drawn at random
};

struct Kind {
  nessie::Architecture architecture = nessie::Architecture::client_driven;
  Variant variant = Variant::hardened;
};

// "nessie-cd", "nessie-sd" or "nessie-hy", with "-published" behind it.
std::string name_of(const Kind& kind);

// `adjust` changes the drawn network; it may be empty.
std::unique_ptr<check::WorldProgram> make_program(
    const Kind& kind, std::function<void(sim::SimulationOptions&)> adjust = {});

}  // namespace falafel::nessie_scenario
