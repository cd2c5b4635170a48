// The lanes of a queue pair: an explorer that tells them apart decides which of them makes a step,
// and learns what the step touches of the queue pair, so that steps of different lanes can commute.
//
// A lane is the next completion, or a part of a request: an atomic or a SEND; the next packet of a
// transfer; a unit of a transfer that has arrived. Only reliable connections have lanes.
//
// A step of a lane reads the queue pair as a whole (Touchable::actor, connection), which everything
// changes that is not told apart here: posting, failing, closing, changes by others. Of the rest it
// touches, by place in the send queue:
//
//   transfers     a packet writes the units that arrive, a unit writes itself
//   answers       all steps that a request's answer waits for join; its completion awaits them
//   writes, atomics   all steps that the effect waits for join; a later request that the ordering
//                 table holds back until then awaits them
//   completions   a completion writes; a later request that waited for a fence or a limit reads
//
// Steps of one transfer join, so they commute, and whatever depends on the last of them depends on
// all of them. docs/exhaustive.md has the argument.
#include <bit>

#include "fabric/sim/network/local_buffer.h"
#include "fabric/sim/network/queue_pair.h"

namespace falafel::sim {

using fabric::Opcode;

namespace {

constexpr LaneNumber completion_lane = 1;
// The other numbers have this bit, the place of the request, and its part.
constexpr LaneNumber is_of_request = LaneNumber{1} << 31U;
constexpr unsigned part_bits = 7;
constexpr LaneNumber place_mask = (LaneNumber{1} << (31U - part_bits)) - 1;
constexpr LaneNumber part_mask = (LaneNumber{1} << part_bits) - 1;

// An atomic, a SEND, or the next packet of a transfer. The parts above are units of a transfer, or
// the only one is the next unit if units cannot be told apart.
constexpr LaneNumber first_part = 0;

LaneNumber lane_of(const Request& request, LaneNumber part) {
  return is_of_request | (static_cast<LaneNumber>(request.place) & place_mask) << part_bits | part;
}

std::uint64_t place_of(LaneNumber lane, std::uint64_t first_place) {
  const auto place = static_cast<LaneNumber>(lane >> part_bits) & place_mask;
  return first_place + ((place - static_cast<LaneNumber>(first_place)) & place_mask);
}

bool is_transfer(const Request& request) { return request.is_read() || request.is_write(); }

}  // namespace

void QueuePairActor::list_lanes(std::vector<Lane>& lanes) const {
  if (!connection_.is_reliable()) {
    lanes.push_back({.actor = actor_id()});
    return;
  }
  const Unobserved unobserved(world_);
  if (can_complete_) lanes.push_back({actor_id(), completion_lane});
  for (std::uint64_t movable = movable_; movable != 0; movable &= movable - 1) {
    const auto index = static_cast<std::uint64_t>(std::countr_zero(movable));
    list_lanes_of(sends_.at(sends_.released() + index), lanes);
  }
}

void QueuePairActor::list_lanes_of(const Request& request, std::vector<Lane>& lanes) const {
  const auto add = [&](LaneNumber part) { lanes.push_back({actor_id(), lane_of(request, part)}); };
  if (!is_transfer(request) || transfers_.can_arrive(request)) add(first_part);
  if (!is_transfer(request) || !request.has_started()) return;
  const Placement& placement = request.placement;
  if (!placement.has_unplaced()) return;
  if (!placement.can_move_any_unit()) {
    add(first_part + 1);
    return;
  }
  for (std::uint64_t units = placement.unplaced_mask(); units != 0; units &= units - 1) {
    add(first_part + 1 + static_cast<LaneNumber>(std::countr_zero(units)));
  }
}

void QueuePairActor::step_lane(LaneNumber lane) {
  if (lane == whole_actor) {
    step();
    return;
  }
  connection_.touch(Access::reads);
  // The step may let a request into the window of those that are looked at.
  if (sends_.announced() > sends_.released() + Ordering::window_requests) touch_as_a_whole();
  if (lane == completion_lane) {
    touch_completion();
    choose_request(Answers{1} << static_cast<unsigned>(std::popcount(movable_)));
    complete_or_flush();
  } else {
    step_request(lane);
  }
  sends_.release_done();
  const Unobserved unobserved(world_);
  update();
}

void QueuePairActor::step_request(LaneNumber lane) {
  const std::uint64_t place = place_of(lane, sends_.released());
  const LaneNumber part = lane & part_mask;
  const std::uint64_t bit = std::uint64_t{1} << (place - sends_.released());
  FALAFEL_ASSERT((movable_ & bit) != 0, "{}: request {} cannot move", describe(), place);
  Request& request = sends_.at(place);
  touch_request(request, part == first_part);
  choose_request(Answers{1} << static_cast<unsigned>(std::popcount(movable_ & (bit - 1))));
  if (!is_transfer(request)) {
    advance(request, {});
  } else if (part == first_part) {
    advance(request, {.arrival = only_first});
  } else if (request.placement.can_move_any_unit()) {
    advance(request, {.arrival = only_second, .units = Answers{1} << (part - first_part - 1)});
  } else {
    advance(request, {.arrival = only_second});
  }
}

// Touches the objects that allowed the step, and those that it adds to.
void QueuePairActor::touch_request(const Request& request, bool is_first_part) {
  const QueuePairActor* const peer = connection_.peer();
  if (peer != nullptr) peer->connection_.touch(Access::reads);
  if (!request.has_started()) touch_permission(request);
  const auto add = [&](Touchable object) {
    world_.touch_part(object, number(), Access::joins, request.place, request.place + 1);
  };
  // A WRITE is answered when its packets have arrived.
  if (is_first_part || !request.is_write()) add(Touchable::answers);
  if (request.is_atomic()) {
    add(Touchable::atomics);
  } else if (!request.is_read()) {
    add(Touchable::writes);
  }
}

// A request that has not started found nothing before it that holds it back.
void QueuePairActor::touch_permission(const Request& request) {
  const auto touch = [&](Touchable object, Access access) {
    world_.touch_part(object, number(), access, 0, request.place);
  };
  if (world_.regions.has_weak_ordering()) {
    touch_passed_writes(request);
  } else {
    touch(Touchable::writes, Access::awaits);
  }
  if (request.is_read()) touch(Touchable::atomics, Access::awaits);
  if (request.place < ordering_.end_of_waiting()) touch(Touchable::completions, Access::reads);
  if (request.state == RequestState::refusal_deferred) touch_as_a_whole();
}

// It may have passed an earlier WRITE that had arrived, and that had not completed. Nobody can say
// which of these steps comes first, unlike with the arrival, which it awaits.
void QueuePairActor::touch_passed_writes(const Request& request) {
  const auto touch = [&](Touchable object, Access access, std::uint64_t place) {
    world_.touch_part(object, number(), access, place, place + 1);
  };
  const std::uint64_t released = sends_.released();
  world_.touch_part(Touchable::writes, number(), Access::awaits, 0, released);
  for (std::uint64_t place = released; place < request.place; ++place) {
    if (!sends_.at(place).is_write()) {
      touch(Touchable::writes, Access::awaits, place);
      continue;
    }
    touch(Touchable::answers, Access::awaits, place);
    touch(Touchable::writes, Access::reads, place);
    touch(Touchable::completions, Access::reads, place);
  }
}

// A WRITE may complete before it is in place; its data is copied then.
void QueuePairActor::touch_completion() {
  Access access = Access::awaits;
  if (connection_.state() == Connection::State::error) {
    touch_as_a_whole();  // requests behind a refused one may go on when it leaves the queue
    receives_.touch_front(world_, Access::reads);
    peer_is_landing();
    access = Access::reads;  // a flush does not wait for the answer
  }
  if (sends_.all_completed()) return;
  const Request& oldest = sends_.oldest();
  world_.touch_part(Touchable::answers, number(), access, oldest.place, oldest.place + 1);
  world_.touch_part(Touchable::completions, number(), Access::writes, oldest.place,
                    oldest.place + 1);
  if (oldest.has_passed_write) {
    world_.touch_part(Touchable::writes, number(), access, 0, oldest.place);
  }
  if (oldest.is_write()) touch_source(world_, oldest, 0, oldest.work.length_bytes);
}

// Somebody looks at whether requests are in the queue, or still land.
void QueuePairActor::touch_all_requests(Touchable object) const {
  world_.touch_part(object, number(), Access::reads, 0, ~std::uint64_t{0});
}

}  // namespace falafel::sim
