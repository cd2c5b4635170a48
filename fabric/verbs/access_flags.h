// The rights of a region as flags of libibverbs. A flag that is younger than the installed header
// is refused by its name.
#pragma once

#include "fabric/error.h"
#include "fabric/fabric.h"

namespace falafel::verbs {

// Errors: unsupported.
fabric::Result<int> flags_of(const fabric::Access& access);

}  // namespace falafel::verbs
