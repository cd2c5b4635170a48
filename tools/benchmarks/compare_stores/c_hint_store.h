// C-Hint with another way of GETs than that of the comparison.
#pragma once

#include "stores/c_hint/options.h"
#include "tools/benchmarks/compare_stores/compared_store.h"

namespace falafel::compare_stores {

// As published. It has no findings.
ComparedStore published_c_hint(c_hint::GetPath gets);

}  // namespace falafel::compare_stores
