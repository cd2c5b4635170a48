#include "tools/scenarios/cluster/lease_watch.h"

#include <fmt/format.h>

namespace falafel::cluster_scenario {

std::optional<std::string> LeaseWatch::objection_to_change(std::uint64_t now_ns) const {
  if (!read_ns_) return "an operator changes keys, and has not read the list";
  const std::uint64_t age_ns = now_ns - *read_ns_;
  if (age_ns < lease_ns_) return std::nullopt;
  return fmt::format(
      "an operator changes a key {} ns after the directory had its list, with a lease of {} ns",
      age_ns, lease_ns_);
}

}  // namespace falafel::cluster_scenario
