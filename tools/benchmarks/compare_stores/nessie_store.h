// A version of Nessie with other options than those of the comparison.
#pragma once

#include <string_view>

#include "stores/nessie/options.h"
#include "tools/benchmarks/compare_stores/compared_store.h"

namespace falafel::compare_stores {

// The sizes of tables, keys, values and the cache follow from the demand, the number of spare
// entries from the expiration period. It has no findings.
ComparedStore nessie_store(std::string_view protocol, const nessie::Options& options);

// The same for NessieSD and NessieHY, with a number of workers, each of which has a thread of its
// own. A host has one thread, so each worker is a node, beside the clients' hosts.
ComparedStore nessie_store_with_workers(std::string_view protocol, nessie::Options options,
                                        std::uint32_t workers);

}  // namespace falafel::compare_stores
