// Removes an entry whose container is damaged. The owner of such an entry is unknown, so it becomes
// a deleted entry without a key (Geometry::stand_in_offset), which a cleanup removes.
//
// SET and DELETE repair when their key is nowhere else in its chain, and they restart until no
// damaged entry is left in the chain. Their effect is then correct regardless of which key the
// container had. If it had another key of the same chain, that key is lost.
#pragma once

#include "engine/client/find.h"
#include "engine/client/pending_operation.h"

namespace falafel::engine {

// `damaged` has the outcome corrupted.
Swap remove_damaged(PendingOperation& operation, const FindResult& damaged);

}  // namespace falafel::engine
