// The table's shape at a moment when no operation, collection or cleanup is under way: no lock is left
// behind, every container verifies, no key is there twice, and every key is found from its home slot.
// Properties: "table.locked", "table.unreadable", "table.duplicate-key", "table.unreachable-key".
#pragma once

#include "checkers/judgement.h"
#include "checkers/memory_view.h"

namespace falafel::checkers {

// The first violation.
Judgement check_table(const MemoryView& view);

}  // namespace falafel::checkers
