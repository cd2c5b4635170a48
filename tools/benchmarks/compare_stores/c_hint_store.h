// C-Hint with other options than those of the comparison.
#pragma once

#include <functional>

#include "stores/c_hint/options.h"
#include "tools/benchmarks/compare_stores/compared_store.h"

namespace falafel::compare_stores {

// As published, but for what `adjust` changes of the options, which does not depend on the demand.
// It has no findings.
ComparedStore published_c_hint(std::function<void(c_hint::Options&)> adjust);

}  // namespace falafel::compare_stores
