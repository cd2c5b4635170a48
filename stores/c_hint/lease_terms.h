// The terms of leases (C-Hint 3.3), and the time at which the memory of a lease may be used again.
#pragma once

#include <cstdint>

#include "stores/c_hint/options.h"

namespace falafel::c_hint {

// The term for an item in that queue, while `used_bytes` of the memory are in use.
std::uint64_t lease_term_ns(const Options& options, std::uint32_t queue, std::uint64_t used_bytes);

// The end of a lease that begins now. The end of an endless lease is fabric::never_ns.
std::uint64_t end_of_lease(std::uint64_t now_ns, std::uint64_t term_ns);

// Returns whether the server may use the memory of a lease with this end.
bool may_reclaim(const Options& options, std::uint64_t lease_end_ns, std::uint64_t now_ns);

}  // namespace falafel::c_hint
