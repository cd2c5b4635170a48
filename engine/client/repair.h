// Takes an entry out of the table whose container is damaged, so that nobody can tell whose key it was: it
// becomes a deleted entry without a key (Geometry::stand_in_offset), which a cleanup removes.
//
// SET and DELETE do so when their key is nowhere else in its chain, and start over until no such entry is
// left there: what they do then holds whichever key the container had. If it was another one of the same
// chain, that key is not found from then on.
#pragma once

#include "engine/client/find.h"
#include "engine/client/operation.h"

namespace falafel::engine {

// `damaged`: of outcome corrupted.
Swap remove_damaged(Operation& operation, const FindResult& damaged);

}  // namespace falafel::engine
