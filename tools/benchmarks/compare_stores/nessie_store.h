// A version of Nessie with other options than those of the comparison.
#pragma once

#include <string_view>

#include "stores/nessie/options.h"
#include "tools/benchmarks/compare_stores/compared_store.h"

namespace falafel::compare_stores {

// The sizes of tables, keys, values and the cache follow from the demand, the number of spare
// entries from the expiration period. It has no findings.
ComparedStore nessie_store(std::string_view protocol, const nessie::Options& options);

}  // namespace falafel::compare_stores
