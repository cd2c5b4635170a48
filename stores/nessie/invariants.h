// Invariants of the memory of all nodes at rest, when no operation is pending.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "stores/nessie/node.h"
#include "stores/nessie/options.h"

namespace falafel::nessie {

// The remains that operations that did not complete may leave.
struct Remains {
  bool invalid_entries = false;  // ITEs whose DTE never became valid
  bool lost_entries = false;     // used DTEs that no ITE refers to and nobody has marked
};

// A sentence for each of these that does not hold:
//   every ITE that is not empty refers to a valid DTE in use, whose key has this slot among its
//   candidates, and this filter;
//   in NessieSD and NessieHY, that DTE is on the ITE's node;
//   no key has two ITEs, and no DTE either;
//   every DTE is exactly one of referred to, marked for recycling, and free.
// `nodes` in the order of their numbers. A null memory is that of a node that is gone.
std::vector<std::string> find_problems(std::span<const NodeInspection> nodes,
                                       const Options& options, const Remains& remains);

}  // namespace falafel::nessie
