#include "fabric/sim/transfers.h"

#include <cstring>

#include "fabric/sim/local_buffer.h"
#include "fabric/sim/memory.h"
#include "fabric/sim/responder.h"

namespace falafel::sim {

using fabric::CompletionStatus;

namespace {

// Requests have places below 2^32 as long as a run is explored.
constexpr unsigned place_shift = 32;
constexpr std::uint64_t most_units = std::uint64_t{1} << place_shift;

}  // namespace

void Transfers::progress(Request& request, const TransferAnswers& answers) {
  if (!request.has_started() && !start(request)) return;
  World& world = connection_.world();
  const Placement& placement = request.placement;
  bool moves_words = placement.has_unplaced();
  if (may_take_packet(request) &&
      (!moves_words || world.choose(ChoiceKind::packet, 2, answers.arrival) == 0)) {
    next_packet(request);
    // A READ samples words as its packets arrive. A WRITE may arrive long before it is in memory,
    // or in the step before.
    moves_words = placement.has_unplaced() &&
                  (request.is_read() || world.choose(ChoiceKind::packet, 2, only_second) == 0);
  }
  if (moves_words) move_words(request, answers.units);
  settle(request);
}

bool Transfers::can_arrive(const Request& request) const {
  if (!request.has_started()) return true;
  if (!request.placement.has_unplaced()) return true;
  return connection_.responder_admits() && may_take_packet(request);
}

// The units of a transfer are told apart while they can be moved in any order.
void Transfers::touch_units(const Request& request, Access access, std::uint64_t first,
                            std::uint64_t count) const {
  World& world = connection_.world();
  const bool tells_apart = request.placement.can_move_any_unit(world.options);
  const std::uint64_t begin = (request.place << place_shift) + (tells_apart ? first : 0);
  world.touch_part(Touchable::transfers, connection_.number(), access, begin,
                   begin + (tells_apart ? count : most_units));
}

// The first packet reaches the responder. Returns whether it is admitted.
bool Transfers::start(Request& request) {
  if (request.work.length_bytes != 0 && connection_.responder_admits() &&
      connection_.responder().admitted_region(request.work) == nullptr) {
    failure_.refuse(request, CompletionStatus::remote_access_error);
    return false;
  }
  World& world = connection_.world();
  request.placement.begin(request.work.length_bytes, request.work.remote.offset, world.options);
  request.state = RequestState::moving;
  if (request.is_write() && queue_.has_unanswered_before(request)) {
    world.count(SimulatorProbe::read_overtaken_by_write);
  }
  return true;
}

// A packet that finds no receive request does not hold up the words that have arrived.
bool Transfers::may_take_packet(const Request& request) const {
  if (!request.expects_packet()) return false;
  return !request.awaits_receive_request() || !request.placement.has_unplaced() ||
         connection_.responder().has_receive_request();
}

void Transfers::next_packet(Request& request) {
  World& world = connection_.world();
  Placement& placement = request.placement;
  if (!connection_.responder_admits()) {
    if (!connection_.is_reliable()) failure_.drop(request);
    return;
  }
  if (placement.arrived_bytes() >= request.surviving_bytes) {
    failure_.drop(request);
    return;
  }
  // Also before the first packet, which may have found no receive request before.
  if (request.work.length_bytes != 0 &&
      connection_.responder().admitted_region(request.work) == nullptr) {
    if (placement.arrived_bytes() > 0) world.count(SimulatorProbe::access_revoked_midway);
    failure_.refuse(request, CompletionStatus::remote_access_error);
    return;
  }
  if (!connection_.is_reliable() && world.strikes(FaultKind::unreliable_loss, ChoiceKind::loss)) {
    world.count(FaultKind::unreliable_loss);
    failure_.drop(request);
    return;
  }
  if (request.awaits_receive_request() && !admits_last_packet(request)) return;
  if (placement.all_arrived()) return;  // an immediate number without data
  const std::uint64_t units = placement.arrived_units();
  placement.next_packet_arrives();
  touch_units(request, Access::writes, units, placement.arrived_units() - units);
  if (request.work.length_bytes > world.options.mtu_bytes) {
    connection_.trace(EventKind::packet_arrives, request, placement.arrived_bytes(), 0, {});
  }
}

// The last packet of a WRITE with immediate consumes a receive request. If there is none, its data
// may arrive all the same.
bool Transfers::admits_last_packet(Request& request) {
  Responder& responder = connection_.responder();
  if (responder.has_receive_request()) {
    request.consumed_receive_id = responder.take_receive_request();
    return true;
  }
  // An attempt that is repeated without end and moves nothing might as well come later.
  const Answers sufficient = connection_.retries_endlessly() ? only_first : all_answers;
  const bool has_data = !request.placement.all_arrived();
  if (has_data && connection_.world().choose(ChoiceKind::packet, 2, sufficient) == 0) return true;
  failure_.find_no_receive_request(request);
  return false;
}

void Transfers::move_words(Request& request, Answers units) {
  World& world = connection_.world();
  // The question is about all units that are not in place.
  if (units == all_answers) {
    touch_units(request, Access::reads, 0, request.placement.arrived_units());
  }
  const Placement::Range range = request.placement.take(world, units);
  touch_units(request, Access::writes, range.first_unit, range.units);
  const fabric::MemoryAddress& target = request.work.remote;
  const Region& region = world.regions.at(target.key);
  // The responder checked this when the packet arrived. The region may have been revoked since.
  FALAFEL_ASSERT(region.contains(target.offset + range.offset, range.length_bytes),
                 "request {} moves bytes {}..+{} outside of region {}", request.work.id,
                 target.offset + range.offset, range.length_bytes, target.key);
  world.touch_memory(*region.block, target.offset + range.offset, range.length_bytes,
                     request.is_read() ? Access::reads : Access::writes);
  if (request.is_read()) {
    read_words(request, range, region);
  } else {
    write_words(request, range, region);
  }
}

void Transfers::read_words(const Request& request, const Placement::Range& range,
                           const Region& region) {
  World& world = connection_.world();
  std::byte* remote = region.base + request.work.remote.offset + range.offset;
  scatter(world, {.local = request.work.local, .segments = request.work.segments}, range.offset,
          {remote, range.length_bytes});
  connection_.trace(EventKind::words_read, request, request.work.remote.offset + range.offset, 0,
                    {remote, range.length_bytes}, region.block.get());
}

void Transfers::write_words(const Request& request, const Placement::Range& range,
                            const Region& region) {
  World& world = connection_.world();
  if (world.options.late_visibility) {
    // Which words are late is a set, and two WRITEs of one word depend on each other anyway.
    world.touch(Touchable::late_words, connection_.number(),
                world.tells_lanes ? Access::adds : Access::writes);
  }
  std::byte* remote = region.base + request.work.remote.offset + range.offset;
  const std::byte* source = source_of(world, request, range.offset, range.length_bytes, scratch_);
  connection_.trace(EventKind::words_written, request, request.work.remote.offset + range.offset, 0,
                    {source, range.length_bytes}, region.block.get());
  if (world.options.late_visibility && world.choose(ChoiceKind::visibility, 2) == 1) {
    world.late_words.retain(remote, range.length_bytes, {connection_.number(), request.place});
    std::memcpy(remote, source, range.length_bytes);
    world.word_waits.wake(remote, range.length_bytes);
  } else {
    put_bytes(world, remote, source, range.length_bytes);
  }
  if (connection_.is_dead()) world.count(SimulatorProbe::orphan_applied);
}

// A WRITE is answered when all its packets have arrived, a READ when all its words have been read.
void Transfers::settle(Request& request) {
  if (!request.has_started() || request.is_done() || request.expects_packet()) return;
  if (request.placement.finished()) {
    finish(request);
  } else if (request.is_write()) {
    request.state = RequestState::landing;
  }
}

void Transfers::finish(Request& request) {
  request.state = RequestState::done;
  // From now on, the responder's processor sees the earlier WRITEs.
  if (request.is_read()) connection_.show_writes_before(request.place);
  const bool is_noticed = request.consumed_receive_id ||
                          (request.is_read() && connection_.world().options.late_visibility);
  if (is_noticed) touch_all_moves(request);
  if (request.consumed_receive_id) connection_.responder().complete_write(connection_, request);
}

// The step that finishes the request depends on the steps that moved its other words.
void Transfers::touch_all_moves(const Request& request) const {
  const Touchable joined = request.is_read() ? Touchable::answers : Touchable::writes;
  connection_.world().touch_part(joined, connection_.number(), Access::writes, request.place,
                                 request.place + 1);
}

void Transfers::land(Request& request) {
  if (!request.has_started() || request.is_done()) return;
  while (request.placement.has_unplaced()) move_words(request);
  settle(request);
}

}  // namespace falafel::sim
