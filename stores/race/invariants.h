// Invariants of the memory node's memory at rest, when no request is in flight.
#pragma once

#include <string>
#include <vector>

#include "stores/race/memory_node.h"

namespace falafel::race {

// A sentence for each of these that does not hold:
//   every entry of the directory leads to a subtable that the node has handed out, and the headers
//   of its buckets agree with the entry;
//   every slot in use leads to a block in memory that was handed out, which verifies, has the tag
//   of the slot, and has no other slot;
//   the block's key has the fingerprint of the slot, which is in one of the key's combined buckets;
//   a key that is not tentative has the suffix of its subtable;
//   no key is stored twice. Tentative slots and those that a split has frozen do not count.
// While an entry is locked, because a client has died in a split, its keys may be in both subtables
// and its headers are between two depths.
std::vector<std::string> find_problems(const NodeInspection& node);

}  // namespace falafel::race
