#include "fabric/sim/send_queue.h"

#include "fabric/assert.h"

namespace falafel::sim {

Request& SendQueue::append(const fabric::WorkRequest& work) {
  FALAFEL_ASSERT(taken_places_ < max_requests_, "request {} is posted beyond the {} places",
                 work.id, max_requests_);
  Request& request = ring_[posted_];
  request.work = work;
  if (!work.segments.empty()) {
    request.segments.assign(work.segments.begin(), work.segments.end());
    request.work.segments = request.segments;
  }
  request.place = posted_;
  request.state = RequestState::posted;
  request.status = fabric::CompletionStatus::success;
  request.is_solicited = false;
  request.tries = 0;
  request.surviving_bytes = ~std::uint64_t{0};
  request.payload.clear();
  request.consumed_receive_id.reset();
  ++posted_;
  ++taken_places_;
  return request;
}

bool SendQueue::has_unanswered_before(const Request& request) const {
  for (std::uint64_t place = released_; place < request.place; ++place) {
    if (!at(place).is_answered()) return true;
  }
  return false;
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
