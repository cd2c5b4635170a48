#include "tools/scenarios/cluster/lifetime_watch.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "engine/layout/pinned.h"
#include "fabric/time_units.h"

namespace falafel::cluster_scenario {

using fabric::millisecond_ns;

// A change takes tens of milliseconds.
std::uint64_t LifetimeWatch::draw_time_to_live_ns(fabric::Host& host) {
  constexpr std::array<std::uint64_t, 5> times_ns{0, 10 * millisecond_ns, 100 * millisecond_ns,
                                                  1'000 * millisecond_ns,
                                                  engine::pinned_time_to_live_ns};
  return times_ns.at(host.random(times_ns.size()));
}

void LifetimeWatch::on_called(const std::string& key, const std::string& value) {
  pending_.emplace(key, value);
}

void LifetimeWatch::on_stored(const std::string& key, const std::string& value,
                              std::uint64_t time_to_live_ns, std::uint64_t now_ns) {
  pending_.erase(pending_.find({key, value}));
  Life& life = lives_[{key, value}];
  const bool is_pinned = time_to_live_ns == engine::pinned_time_to_live_ns;
  (is_pinned ? life.may_be_pinned : life.may_be_unpinned) = true;
  life.latest_ns = time_to_live_ns == 0 || is_pinned
                       ? fabric::never_ns
                       : std::max(life.latest_ns, now_ns + time_to_live_ns);
}

std::optional<std::string> LifetimeWatch::objection_to_copy(const std::string& key,
                                                            const std::string& value,
                                                            std::uint64_t time_to_live_ns,
                                                            std::uint64_t now_ns) const {
  const auto stored = lives_.find({key, value});
  if (pending_.contains({key, value}) || stored == lives_.end()) return std::nullopt;
  const Life& life = stored->second;
  const bool is_pinned = time_to_live_ns == engine::pinned_time_to_live_ns;
  if (is_pinned ? !life.may_be_pinned : !life.may_be_unpinned) {
    return fmt::format("a change stores a copy of '{}' ({}) that is {}pinned, unlike the value",
                       key, value, is_pinned ? "" : "not ");
  }
  if (life.latest_ns == fabric::never_ns) return std::nullopt;
  if (time_to_live_ns > 0 && now_ns + time_to_live_ns <= life.latest_ns) return std::nullopt;
  return fmt::format(
      "a change stores a copy of '{}' ({}) at {} ns for another {} ns (0: forever), but the value "
      "expires at {} ns at the latest",
      key, value, now_ns, time_to_live_ns, life.latest_ns);
}

}  // namespace falafel::cluster_scenario
