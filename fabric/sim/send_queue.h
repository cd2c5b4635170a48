// The send queue of a queue pair: its requests by place, from the oldest that may still have an effect.
//
//   [released, oldest)  completed; words of a WRITE or a datagram may still be on their way
//   [oldest, posted)    their completions are still to be made, in this order
#pragma once

#include <cstdint>

#include "fabric/sim/request.h"
#include "fabric/sim/ring.h"

namespace falafel::sim {

class SendQueue {
 public:
  explicit SendQueue(std::uint32_t max_requests) : max_requests_(max_requests) {}

  std::uint64_t released() const { return released_; }
  std::uint64_t posted() const { return posted_; }
  bool empty() const { return released_ == posted_; }
  Request& at(std::uint64_t place) { return ring_[place]; }
  const Request& at(std::uint64_t place) const { return ring_[place]; }

  bool all_completed() const { return oldest_ == posted_; }
  bool is_completed(const Request& request) const { return request.place < oldest_; }
  Request& oldest() { return ring_[oldest_]; }
  const Request& oldest() const { return ring_[oldest_]; }
  std::uint64_t oldest_place() const { return oldest_; }
  bool has_unanswered_before(const Request& request) const;

  // How many of the requests posted still take a place of the queue: a request does until the completion of
  // itself or of a later one has been polled.
  std::uint32_t taken_places() const { return taken_places_; }
  void give_back_places(std::uint32_t places);

  void make_room(std::uint64_t requests) { ring_.make_room(released_, posted_, requests); }
  Request& append(const fabric::WorkRequest& work);

  // Completes the oldest request, signalled or not. Returns how many places its completion gives back: its own
  // and those of the unsignalled requests before it; 0 if it makes no completion.
  std::uint32_t complete_oldest(bool is_signalled);
  // Nobody will be notified of any request.
  void complete_all() { oldest_ = posted_; }
  void release_done();

  // The responder refused the request; no request behind it is issued any more.
  void mark_refused(const Request& request);
  bool is_refused(const Request& request) const { return request.place == refused_place_; }

 private:
  static constexpr std::uint64_t no_place = ~std::uint64_t{0};

  std::uint32_t max_requests_;
  Ring<Request> ring_;
  std::uint64_t released_ = 0;
  std::uint64_t oldest_ = 0;
  std::uint64_t posted_ = 0;
  std::uint64_t refused_place_ = no_place;
  std::uint32_t taken_places_ = 0;
  std::uint32_t unsignalled_ = 0;  // requests that completed silently since the last completion
};

}  // namespace falafel::sim
