#include "stores/c_hint/lease_terms.h"

#include <algorithm>

namespace falafel::c_hint {
namespace {

constexpr std::uint64_t million = 1'000'000;

// Shares are in millionths, so that the product of a share and a duration fits a word.
std::uint64_t unit_ns(const Options& options, std::uint64_t used_bytes) {
  const std::uint64_t share = std::min(used_bytes, options.items_bytes) / options.min_block_bytes *
                              million / (options.items_bytes / options.min_block_bytes);
  const std::uint64_t range_ns = options.unit_of_empty_memory_ns - options.unit_of_full_memory_ns;
  return options.unit_of_empty_memory_ns - range_ns / million * share -
         range_ns % million * share / million;
}

}  // namespace

std::uint64_t lease_term_ns(const Options& options, std::uint32_t queue, std::uint64_t used_bytes) {
  switch (options.lease) {
    case LeaseKind::by_popularity: return (std::uint64_t{queue} + 1) * unit_ns(options, used_bytes);
    case LeaseKind::fixed: return options.fixed_term_ns;
    case LeaseKind::endless: break;
  }
  return fabric::never_ns;
}

std::uint64_t end_of_lease(std::uint64_t now_ns, std::uint64_t term_ns) {
  return term_ns > fabric::never_ns - now_ns ? fabric::never_ns : now_ns + term_ns;
}

bool may_reclaim(const Options& options, std::uint64_t lease_end_ns, std::uint64_t now_ns) {
  const std::uint64_t margin_ns = options.safeguards.clock_margin ? options.clock_error_ns : 0;
  return lease_end_ns != fabric::never_ns && end_of_lease(lease_end_ns, margin_ns) <= now_ns;
}

}  // namespace falafel::c_hint
