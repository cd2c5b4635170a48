// Invariants of the memory of all nodes at rest, when no operation is pending.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "fabric/fabric.h"
#include "stores/swarm/options.h"

namespace falafel::swarm {

// A sentence for each of these that does not hold:
//   every word names a buffer of a writer that exists, which has the right hash and the identity of
//   the word at this node;
//   data in place are those of the word that they name, or their hash is wrong;
//   a slot of the index names a register that exists, and no other slot names it;
//   no two slots have the same key.
// `nodes` in the order of their numbers; those of nodes that are gone are null. With
// Safeguards::own_index_node, the last one has the index.
std::vector<std::string> find_problems(std::span<const std::shared_ptr<fabric::MemoryBlock>> nodes,
                                       const Options& options);

}  // namespace falafel::swarm
