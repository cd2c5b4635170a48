// The network of a proof, and what a proof assumes of it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fabric/sim/options/options.h"

namespace falafel::explorer {

// Gives up every promise that the contract does not make: words are placed in any order and seen
// late, stores are buffered, others move between any two accesses of a processor, and unreliable
// connections lose packets and reorder datagrams. Sizes and limits stay.
void weaken_network(sim::SimulationOptions& options);

// Returns the assumptions of a proof with these options, each as a sentence. `fixed_choices`:
// how many choices of a run are outside of the explored part.
std::vector<std::string> assumptions_of(const sim::SimulationOptions& options,
                                        std::uint64_t fixed_choices);

}  // namespace falafel::explorer
