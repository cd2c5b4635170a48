// The invariants of the collector. At any moment, no entry points into memory that is free or
// waiting to be freed. At rest, every byte is accounted for, and containers lie in memory that is
// in use and do not overlap. When all clients have disconnected, all regions are free and all
// containers are in the active mature space. Properties: "collector.dangling-entry",
// "collector.overlap", "collector.lost-memory".
#pragma once

#include "checkers/judgement.h"
#include "checkers/memory_view.h"

namespace falafel::checkers {

// Checks all entries at any moment. `slot` is about to receive the entry `next`; the other slots
// are as in the view.
Judgement check_entries(const MemoryView& view, std::uint64_t slot, engine::Entry next);

// Checks what the server repairs after a hostile client has swapped entries: no entry is locked, or
// empty with a flag, or points into memory that is not in use, and all memory is free again.
// Reports "table.locked" too.
Judgement check_repaired(const MemoryView& view);

// Checks all three properties; requires that nothing is in progress and no client is connected.
// Returns the first violation.
Judgement check_collector(const MemoryView& view);

}  // namespace falafel::checkers
