// What the collector must not do. At any moment: no entry points into memory that is free, or waits to
// be. At rest: every byte is accounted for; containers lie in memory that is in use, and do not overlap;
// and when all clients are gone, all regions are free and everything is in the active mature space.
// Properties: "collector.dangling-entry", "collector.overlap", "collector.lost-memory".
#pragma once

#include "checkers/judgement.h"
#include "checkers/memory_view.h"

namespace falafel::checkers {

// All entries, at any moment: `slot` is about to have the entry `next`, the others are as the view has them.
Judgement check_entries(const MemoryView& view, std::uint64_t slot, engine::Entry next);

// All of it, when nothing is under way and no client is connected. The first violation.
Judgement check_collector(const MemoryView& view);

}  // namespace falafel::checkers
