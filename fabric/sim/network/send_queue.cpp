#include "fabric/sim/network/send_queue.h"

#include "fabric/assert.h"

namespace falafel::sim {

void SendQueue::copy_segments(Request& request) {
  const std::span<const fabric::LocalSegment> segments = request.work.segments;
  request.segments.assign(segments.begin(), segments.end());
  request.work.segments = request.segments;
}

bool SendQueue::has_unanswered_before(const Request& request) const {
  for (std::uint64_t place = released_; place < request.place; ++place) {
    if (!at(place).is_answered()) return true;
  }
  return false;
}

bool SendQueue::has_landing_before(const Request& request) const {
  for (std::uint64_t place = released_; place < request.place; ++place) {
    if (at(place).state == RequestState::landing) return true;
  }
  return false;
}

std::uint64_t SendQueue::bytes_in_flight() const {
  std::uint64_t place = released_;
  while (place < oldest_ && at(place).is_done()) ++place;
  std::uint64_t bytes = 0;
  for (; place < oldest_; ++place) bytes += at(place).work.length_bytes;
  return bytes;
}

void SendQueue::mark_refused(const Request& request) {
  FALAFEL_ASSERT(
      refused_place_ == no_place || refused_place_ < released_ || request.place <= refused_place_,
      "request {} is refused behind the refused request {}", request.place, refused_place_);
  refused_place_ = request.place;
}

void SendQueue::forget_faults_from(std::uint64_t place) {
  for (; place < posted_; ++place) at(place).status = fabric::CompletionStatus::success;
}

}  // namespace falafel::sim
