// A part of a card that serves one request after the other, in the order in which they arrive: a
// pipeline, or one direction of a link.
//
// A service may be booked shortly before the request arrives, because a step of a run books what
// follows from it. A request that arrives before the service booked last then takes the gap before
// that service, if it fits in.
#pragma once

#include <algorithm>
#include <cstdint>

namespace falafel::sim::timing {

class Resource {
 public:
  // Serves a request that arrives at this time, for so long. Returns when the service begins.
  std::uint64_t begin(std::uint64_t arrival_ps, std::uint64_t duration_ps) {
    busy_ps_ += duration_ps;
    if (arrival_ps < last_begin_ps_) {
      const std::uint64_t in_gap_ps = std::max(arrival_ps, gap_begin_ps_);
      if (in_gap_ps + duration_ps <= last_begin_ps_) {
        gap_begin_ps_ = in_gap_ps + duration_ps;
        return in_gap_ps;
      }
    }
    gap_begin_ps_ = free_at_ps_;
    last_begin_ps_ = std::max(arrival_ps, free_at_ps_);
    free_at_ps_ = last_begin_ps_ + duration_ps;
    return last_begin_ps_;
  }
  // The same. Returns when the service ends.
  std::uint64_t end(std::uint64_t arrival_ps, std::uint64_t duration_ps) {
    return begin(arrival_ps, duration_ps) + duration_ps;
  }

  // How long it has served requests, including the one that it serves now.
  std::uint64_t busy_ps() const { return busy_ps_; }

 private:
  std::uint64_t gap_begin_ps_ = 0;   // of the gap before the service booked last
  std::uint64_t last_begin_ps_ = 0;  // of that service
  std::uint64_t free_at_ps_ = 0;     // after it
  std::uint64_t busy_ps_ = 0;
};

}  // namespace falafel::sim::timing
