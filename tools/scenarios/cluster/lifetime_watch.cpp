#include "tools/scenarios/cluster/lifetime_watch.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "fabric/time_units.h"

namespace falafel::cluster_scenario {

using fabric::millisecond_ns;

// A change takes tens of milliseconds.
std::uint64_t LifetimeWatch::draw_time_to_live_ns(fabric::Host& host) {
  constexpr std::array<std::uint64_t, 4> times_ns{0, 10 * millisecond_ns, 100 * millisecond_ns,
                                                  1'000 * millisecond_ns};
  return times_ns.at(host.random(times_ns.size()));
}

void LifetimeWatch::on_called(const std::string& key, const std::string& value) {
  pending_.emplace(key, value);
}

void LifetimeWatch::on_stored(const std::string& key, const std::string& value,
                              std::uint64_t time_to_live_ns, std::uint64_t now_ns) {
  pending_.erase(pending_.find({key, value}));
  std::uint64_t& latest_ns = expires_ns_[{key, value}];
  latest_ns =
      time_to_live_ns == 0 ? fabric::never_ns : std::max(latest_ns, now_ns + time_to_live_ns);
}

std::optional<std::string> LifetimeWatch::objection_to_copy(const std::string& key,
                                                            const std::string& value,
                                                            std::uint64_t time_to_live_ns,
                                                            std::uint64_t now_ns) const {
  const auto stored = expires_ns_.find({key, value});
  if (pending_.contains({key, value}) || stored == expires_ns_.end()) return std::nullopt;
  if (stored->second == fabric::never_ns) return std::nullopt;
  if (time_to_live_ns > 0 && now_ns + time_to_live_ns <= stored->second) return std::nullopt;
  return fmt::format(
      "a change stores a copy of '{}' ({}) at {} ns for another {} ns (0: forever), but the value "
      "expires at {} ns at the latest",
      key, value, now_ns, time_to_live_ns, stored->second);
}

}  // namespace falafel::cluster_scenario
