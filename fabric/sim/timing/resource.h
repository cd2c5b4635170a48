// A part of a card that serves one request at a time: a pipeline, or one direction of a link.
//
// A service is booked when the step before it is made, which may be long before the request
// arrives, or shortly after. The resource therefore keeps the gaps between its bookings, and a
// request takes the first one after its arrival that is long enough.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace falafel::sim::timing {

class Resource {
 public:
  // Serves a request that arrives at this time, for the duration. `now_ps` is the time of the run,
  // which never decreases. Returns when the service begins.
  std::uint64_t begin(std::uint64_t now_ps, std::uint64_t arrival_ps, std::uint64_t duration_ps) {
    forget_gaps_before(now_ps);
    auto gap = std::ranges::partition_point(
        gaps_, [&](const Gap& one) { return one.end_ps < arrival_ps + duration_ps; });
    while (std::max(gap->begin_ps, arrival_ps) + duration_ps > gap->end_ps) ++gap;
    const std::uint64_t begin_ps = std::max(gap->begin_ps, arrival_ps);
    if (duration_ps > 0) occupy(gap, begin_ps, begin_ps + duration_ps);
    busy_ps_ += duration_ps;
    return begin_ps;
  }
  // The same. Returns when the service ends.
  std::uint64_t end(std::uint64_t now_ps, std::uint64_t arrival_ps, std::uint64_t duration_ps) {
    return begin(now_ps, arrival_ps, duration_ps) + duration_ps;
  }

  // How long it has served requests, including those that are booked.
  std::uint64_t busy_ps() const { return busy_ps_; }

  // A request may arrive this long before the step that books its service, besides the service
  // itself: an acknowledgement leaves before the data it stands for are in memory.
  static constexpr std::uint64_t longest_delay_ps = 10'000'000;

 private:
  struct Gap {
    std::uint64_t begin_ps;
    std::uint64_t end_ps;
  };

  void occupy(std::vector<Gap>::iterator gap, std::uint64_t begin_ps, std::uint64_t end_ps) {
    const Gap before{gap->begin_ps, begin_ps};
    gap->begin_ps = end_ps;
    if (gap->begin_ps == gap->end_ps) {
      *gap = before;
      if (before.begin_ps == before.end_ps) gaps_.erase(gap);
    } else if (before.begin_ps < before.end_ps) {
      gaps_.insert(gap, before);
    }
  }

  // Some at once, because each time moves all others.
  void forget_gaps_before(std::uint64_t now_ps) {
    const auto kept = std::ranges::find_if(gaps_, [&](const Gap& one) {
      return one.end_ps > now_ps - std::min(now_ps, longest_delay_ps);
    });
    if (kept - gaps_.begin() >= forgotten_at_once) gaps_.erase(gaps_.begin(), kept);
  }

  static constexpr std::ptrdiff_t forgotten_at_once = 16;

  // In order, none of them empty. The last one has no end.
  std::vector<Gap> gaps_ = {{0, std::numeric_limits<std::uint64_t>::max()}};
  std::uint64_t busy_ps_ = 0;
};

}  // namespace falafel::sim::timing
