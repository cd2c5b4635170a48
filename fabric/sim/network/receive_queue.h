// The receive queue of a queue pair: buffers for messages, used in the order of posting.
//
// An exploration sees its front, its back and its requests as parts of one object. Thus whoever
// posts a request behind others commutes with whoever takes the oldest one.
#pragma once

#include <cstdint>
#include <vector>

#include "fabric/assert.h"
#include "fabric/sim/network/ring.h"
#include "fabric/sim/run/world.h"
#include "fabric/work_request.h"

namespace falafel::sim {

class ReceiveQueue {
 public:
  // `number` identifies it among the receive queues of the world.
  explicit ReceiveQueue(std::uint32_t number) : number_(number) {}

  std::uint32_t number() const { return number_; }
  bool empty() const { return first_ == posted_; }
  std::uint64_t size() const { return posted_ - first_; }
  const fabric::ReceiveRequest& front() const { return ring_[first_].request; }

  // The number of places in use. A request uses its place until its completion is polled.
  std::uint32_t taken_places() const { return taken_places_; }
  void give_back_places(std::uint32_t places) {
    FALAFEL_ASSERT(places <= taken_places_, "{} places are given back of {} taken", places,
                   taken_places_);
    taken_places_ -= places;
  }

  void make_room(std::uint64_t requests) { ring_.make_room(first_, posted_, requests); }
  void append(const fabric::ReceiveRequest& request) {
    Place& place = ring_[posted_++];
    place.segments.assign(request.segments.begin(), request.segments.end());
    place.request = request;
    place.request.segments = place.segments;
    ++taken_places_;
  }
  // The segments of the result are valid until the next request is appended.
  fabric::ReceiveRequest take() {
    FALAFEL_ASSERT(!empty(), "a receive request is taken from an empty queue");
    return ring_[first_++].request;
  }
  void drop_all() { first_ = posted_; }

  // Looks whether there is a request, or takes it.
  void touch_front(World& world, Access access) const {
    touch(world, access, front_part, 1);
    touch(world, access, first_request_part + first_, 1);
  }
  // Changes how many places are taken.
  void touch_back(World& world) const { touch(world, Access::writes, back_part, 1); }
  // Posts requests.
  void touch_next(World& world, std::uint64_t requests) const {
    touch_back(world);
    touch(world, Access::writes, first_request_part + posted_, requests);
  }
  void touch_all(World& world) const {
    touch(world, Access::writes, front_part, first_request_part + posted_);
  }

 private:
  struct Place {
    fabric::ReceiveRequest request;
    std::vector<fabric::LocalSegment> segments;  // what request.segments refers to
  };

  static constexpr std::uint64_t front_part = 0;
  static constexpr std::uint64_t back_part = 1;
  static constexpr std::uint64_t first_request_part = 2;  // of the first request ever posted

  void touch(World& world, Access access, std::uint64_t part, std::uint64_t parts) const {
    if (!world.hears(Touchable::receives)) return;
    world.step_observer->touch({Touchable::receives, number_, access, part, part + parts});
  }

  std::uint32_t number_;
  Ring<Place> ring_;  // [first_, posted_)
  std::uint64_t first_ = 0;
  std::uint64_t posted_ = 0;
  std::uint32_t taken_places_ = 0;
};

}  // namespace falafel::sim
