// How requests are posted to a queue pair: they are examined, take their places, and the device
// hears of them.
#include "fabric/sim/network/device_state.h"
#include "fabric/sim/network/local_buffer.h"
#include "fabric/sim/network/queue_pair.h"
#include "fabric/sim/run/host_state.h"

namespace falafel::sim {

using fabric::CompletionStatus;
using fabric::Opcode;
using fabric::Result;
using State = Connection::State;

namespace {

// Examines local buffers for the rules of posting.
struct BufferExamination {
  fabric::LocalBuffer operator()(std::size_t /*index*/, const fabric::MemoryAddress& local,
                                 std::uint64_t length_bytes, bool is_written) const {
    connection.world().touch(Touchable::region, local.key, Access::reads);
    const Region* region =
        connection.world().regions.find_local(local.key, connection.protection_domain());
    return fabric::examine_local_buffer(region, local, length_bytes, is_written);
  }
  const Connection& connection;
};

}  // namespace

Result<void> QueuePairActor::post_send(std::span<const fabric::WorkRequest> chain) {
  if (world_.running != nullptr) {
    world_.running->count_call(host(), {Call::Kind::posting, number()});
  }
  if (Result<void> checked = fabric::check_send_chain(
          chain, occupancy(sends_.taken_places()), connection_.options(),
          connection_.device().attributes(), BufferExamination{connection_});
      !checked) {
    return checked;
  }
  sends_.make_room(chain.size());
  if (request_times_ != nullptr) {
    request_times_->make_room(chain.size());
    world_.spend(cost_of_posting_ps(chain));
  }
  for (const fabric::WorkRequest& work : chain) enqueue(work);
  ring_doorbell();
  return {};
}

Result<void> QueuePairActor::post_faulty(const fabric::WorkRequest& work, CompletionStatus status) {
  if (Result<void> fits =
          fabric::check_send_places(occupancy(sends_.taken_places()), 1, connection_.options());
      !fits) {
    return fits;
  }
  const fabric::WorkRequest without_data{
      .id = work.id, .opcode = work.opcode, .signalled = work.signalled};
  sends_.make_room(1);
  enqueue(without_data);
  Request& request = sends_.at(sends_.posted() - 1);
  request.state = RequestState::done;
  if (!sends_.has_refused() && connection_.state() != State::error) {
    request.status = status;
    sends_.mark_refused(request);
  }
  ring_doorbell();
  return {};
}

Result<void> QueuePairActor::post_to_own_device(const fabric::WorkRequest& work) {
  if (Result<void> fits =
          fabric::check_send_places(occupancy(sends_.taken_places()), 1, connection_.options());
      !fits) {
    return fits;
  }
  sends_.make_room(1);
  enqueue(work);
  ring_doorbell();
  return {};
}

std::uint64_t QueuePairActor::cost_of_posting_ps(std::span<const fabric::WorkRequest> chain) const {
  const timing::Profile& profile = world_.costs->profile();
  if (!connection_.is_stream()) return profile.lock_ps + chain.size() * profile.post_ps;
  std::uint64_t cost_ps = 0;
  for (const fabric::WorkRequest& work : chain) {
    cost_ps += world_.costs->stream_send_ps(work.length_bytes);
  }
  return cost_ps;
}

// The doorbell reaches the device after the earlier stores of the processor.
void QueuePairActor::ring_doorbell() {
  StoreBuffer* const buffer = host().store_buffer();
  if (buffer != nullptr && !buffer->empty()) {
    buffer->ring_doorbell(*this, sends_.posted());
    if (connection_.state() == State::error) refresh();
  } else {
    hear_doorbell(sends_.posted());
  }
}

void QueuePairActor::hear_doorbell(std::uint64_t end_place) {
  sends_.announce_before(end_place);
  refresh();
}

void QueuePairActor::enqueue(const fabric::WorkRequest& work) {
  Request& request = sends_.append(work);
  find_local_buffer(world_, request);
  world_.trace.record({.kind = EventKind::request_posted,
                       .detail = static_cast<std::uint8_t>(work.opcode),
                       .subject = number(),
                       .request = work.id,
                       .offset = work.remote.offset,
                       .posted = &work,
                       .place = request.place});
  if (work.inlined) take_inlined_payload(world_, request, host().store_buffer());
  if (connection_.state() == State::error) failure_.drop(request);
  if (world_.step_observer != nullptr) announce(work);
}

void QueuePairActor::announce(const fabric::WorkRequest& work) const {
  const QueuePairActor* peer = connection_.peer();
  if (peer == nullptr || fabric::is_send(work.opcode)) return;
  const std::uint32_t key = world_.regions.key_of_remote(work.remote.key);
  const Region* region = world_.regions.find(key, peer->connection_.protection_domain());
  if (region == nullptr) return;
  const Access access = work.opcode == Opcode::read ? Access::reads : Access::writes;
  world_.step_observer->will_touch(
      actor_id(), {Touchable::memory, region->block_number, access, work.remote.offset,
                   work.remote.offset + work.length_bytes});
}

fabric::QueueOccupancy QueuePairActor::occupancy(std::uint32_t places_taken) const {
  connection_.touch(Access::reads);
  return {.queue_pair_number = number(),
          .is_closed = connection_.state() == State::closed,
          .places_taken = places_taken};
}

Result<void> QueuePairActor::post_receive(std::span<const fabric::ReceiveRequest> chain) {
  if (world_.running != nullptr) {
    world_.running->count_call(host(), {Call::Kind::posting, number()});
  }
  if (Result<void> checked = fabric::check_own_receive_queue(connection_.options()); !checked) {
    return checked;
  }
  if (Result<void> checked =
          fabric::check_receive_chain(chain, occupancy(receives_.taken_places()),
                                      connection_.options(), BufferExamination{connection_});
      !checked) {
    return checked;
  }
  enqueue_receives(chain);
  return {};
}

Result<void> QueuePairActor::post_faulty_receive(const fabric::ReceiveRequest& receive) {
  if (Result<void> fits = fabric::check_receive_places(occupancy(receives_.taken_places()), 1,
                                                       connection_.options());
      !fits) {
    return fits;
  }
  world_.regions.expect_faulty_buffers();
  enqueue_receives({&receive, 1});
  return {};
}

void QueuePairActor::enqueue_receives(std::span<const fabric::ReceiveRequest> chain) {
  host().drain_stores();
  const bool were_none = receives_.empty();
  receives_.touch_next(world_, chain.size());
  receives_.make_room(chain.size());
  for (const fabric::ReceiveRequest& request : chain) receives_.append(request);
  // A flush on this side may need the new receive requests.
  if (connection_.state() == State::error) refresh();
  if (were_none) first_receive_was_posted();
}

// A SEND of the peer may have waited for it.
void QueuePairActor::first_receive_was_posted() const {
  QueuePairActor* peer = connection_.peer();
  if (peer == nullptr) return;
  world_.touch(Touchable::actor, peer->actor_id(), Access::reads);
  peer->touch_all_requests(Touchable::writes);
  peer->touch_all_requests(Touchable::completions);
  if (!peer->sends_.empty()) peer->refresh();
}

}  // namespace falafel::sim
