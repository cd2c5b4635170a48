// The shape of the table when no operation, collection or cleanup is in progress: no entry is
// locked, every container verifies, every entry has the fingerprint of its container's key and the
// size class of its length, no key occurs twice, and a search from its home slot finds every key.
// This holds for all tables in use together.
// Properties: "table.locked", "table.unreadable", "table.wrong-reference", "table.duplicate-key",
// "table.unreachable-key".
#pragma once

#include "checkers/judgement.h"
#include "checkers/memory_view.h"

namespace falafel::checkers {

// Returns the first violation.
Judgement check_table(const MemoryView& view);

}  // namespace falafel::checkers
