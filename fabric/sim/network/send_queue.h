// The send queue of a queue pair. It keeps each request until it is complete and has no further
// effect. A place is the number of requests posted before.
//
//   [released, oldest)  completed, but words of a WRITE or a datagram may still be in flight
//   [oldest, posted)    not completed; they complete in this order
//   [announced, posted) posted, but the device does not know of them (option store_buffers)
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

#include "fabric/assert.h"
#include "fabric/sim/network/request.h"
#include "fabric/sim/network/ring.h"

namespace falafel::sim {

class SendQueue {
 public:
  explicit SendQueue(std::uint32_t max_requests) : max_requests_(max_requests) {}

  std::uint64_t released() const { return released_; }
  std::uint64_t posted() const { return posted_; }
  // The device knows the requests before this place.
  std::uint64_t announced() const { return announced_; }
  void announce_before(std::uint64_t place) { announced_ = std::max(announced_, place); }
  bool empty() const { return released_ == posted_; }
  bool has_one_request() const { return posted_ - released_ == 1 && announced_ == posted_; }
  Request& at(std::uint64_t place) { return ring_[place]; }
  const Request& at(std::uint64_t place) const { return ring_[place]; }

  bool all_completed() const { return oldest_ == posted_; }
  bool is_completed(const Request& request) const { return request.place < oldest_; }
  Request& oldest() { return ring_[oldest_]; }
  const Request& oldest() const { return ring_[oldest_]; }
  std::uint64_t oldest_place() const { return oldest_; }
  bool has_unanswered_before(const Request& request) const;
  bool has_landing_before(const Request& request) const;

  // The number of places in use. A request uses its place until the completion of itself or of a
  // later request is polled.
  std::uint32_t taken_places() const { return taken_places_; }
  void give_back_places(std::uint32_t places) {
    FALAFEL_ASSERT(places <= taken_places_, "{} places are given back of {} taken", places,
                   taken_places_);
    taken_places_ -= places;
  }

  void make_room(std::uint64_t requests) { ring_.make_room(released_, posted_, requests); }
  Request& append(const fabric::WorkRequest& work) {
    FALAFEL_ASSERT(taken_places_ < max_requests_, "request {} is posted beyond the {} places",
                   work.id, max_requests_);
    Request& request = ring_[posted_];
    request.work = work;
    if (!work.segments.empty()) copy_segments(request);
    request.place = posted_;
    request.state = RequestState::posted;
    request.status = fabric::CompletionStatus::success;
    request.has_passed_write = false;
    request.is_solicited = false;
    request.invalidated_key = 0;
    request.tries = 0;
    request.surviving_bytes = ~std::uint64_t{0};
    request.payload.clear();
    request.consumed_receive_id.reset();
    ++posted_;
    ++taken_places_;
    return request;
  }

  // Completes the oldest request. Returns the number of places that its completion gives back: its
  // own and those of the unsignalled requests before it, or 0 if it makes no completion.
  std::uint32_t complete_oldest(bool is_signalled) {
    FALAFEL_ASSERT(oldest_ < posted_, "a request completes of {} posted", posted_);
    ++oldest_;
    ++unsignalled_;
    return is_signalled ? std::exchange(unsignalled_, 0) : 0;
  }
  // Completes all requests without notifying the program.
  void complete_all() { oldest_ = posted_; }
  void release_done() {
    while (released_ < oldest_ && at(released_).is_done()) ++released_;
  }
  // The length of the requests [released, oldest), without those at the front that are done.
  std::uint64_t bytes_in_flight() const;

  // Notes that the responder refused the request, or that its own device will. No later request
  // leaves the queue any more.
  void mark_refused(const Request& request);
  // Requests from this place on that their own device would have refused are like any others.
  void forget_faults_from(std::uint64_t place);
  bool has_refused() const { return refused_place_ != no_place && refused_place_ >= released_; }
  bool is_refused(const Request& request) const { return request.place == refused_place_; }

 private:
  static void copy_segments(Request& request);

  static constexpr std::uint64_t no_place = ~std::uint64_t{0};

  std::uint32_t max_requests_;
  Ring<Request> ring_;
  std::uint64_t released_ = 0;
  std::uint64_t oldest_ = 0;
  std::uint64_t posted_ = 0;
  std::uint64_t announced_ = 0;
  std::uint64_t refused_place_ = no_place;
  std::uint32_t taken_places_ = 0;
  std::uint32_t unsignalled_ = 0;  // requests that completed silently since the last completion
};

}  // namespace falafel::sim
