#include "fabric/sim/network/transfers.h"

#include <cstring>

#include "fabric/sim/memory/device_writes.h"
#include "fabric/sim/memory/uncommitted_use.h"
#include "fabric/sim/network/local_buffer.h"
#include "fabric/sim/network/responder.h"

namespace falafel::sim {

using fabric::CompletionStatus;
using fabric::RegionOrdering;

namespace {

// Requests have places below 2^32 as long as a run is explored.
constexpr unsigned place_shift = 32;
constexpr std::uint64_t most_units = std::uint64_t{1} << place_shift;

// The units of a transfer are told apart while they can be moved in any order.
void touch_units(World& world, std::uint32_t queue_pair, const Request& request, Access access,
                 std::uint64_t first, std::uint64_t count) {
  const bool tells_apart = request.placement.can_move_any_unit();
  const std::uint64_t begin = (request.place << place_shift) + (tells_apart ? first : 0);
  world.touch_part(Touchable::transfers, queue_pair, access, begin,
                   begin + (tells_apart ? count : most_units));
}

// A packet that finds no receive request does not hold up the words that have arrived.
bool finds_receive_request(const Connection& connection, const Request& request) {
  return !request.placement.has_unplaced() || connection.responder().has_receive_request();
}

bool may_take_packet(const Connection& connection, const Request& request) {
  if (!request.expects_packet()) return false;
  return !request.awaits_receive_request() || finds_receive_request(connection, request);
}

// A step of one request.
class Step {
 public:
  Step(const Connection& connection, const SendQueue& queue, Failure& failure, Request& request,
       std::vector<std::byte>& scratch)
      : connection_(connection),
        world_(connection.world()),
        queue_(queue),
        failure_(failure),
        request_(request),
        placement_(request.placement),
        scratch_(scratch) {}

  void make(const TransferAnswers& answers) {
    Placement::Range words{};
    const bool is_first = !request_.has_started();
    if (is_first && has_one_plain_packet()) {
      words = make_only_packet_arrive();
    } else if (!is_first || start()) {
      words = go_on(answers, is_first);
    }
    if (words.length_bytes != 0) move(words);
    settle();
  }

 private:
  // Most requests: neither a fault nor an explorer nor a missing receive request can meet the
  // packet on its way, and no other one follows.
  bool has_one_plain_packet() const {
    const fabric::WorkRequest& work = request_.work;
    return connection_.is_plainly_up() && !world_.hears_parts &&
           work.opcode != fabric::Opcode::write_with_immediate &&
           work.length_bytes - 1U < world_.options.mtu_bytes;
  }

  // Returns the words that move now.
  Placement::Range make_only_packet_arrive() {
    if (!is_admitted()) {
      failure_.refuse(request_, CompletionStatus::remote_access_error);
      return {};
    }
    request_.state = RequestState::moving;
    note_overtaking();
    const bool moves_now = moves_on_arrival();
    if (moves_now && moves_whole()) return placement_.be_whole(request_.work.length_bytes);
    begin_placement();
    placement_.next_packet_arrives();
    return moves_now ? placement_.take_piece(world_, all_answers) : Placement::Range{};
  }

  // The first packet reaches the responder. Returns whether it is admitted.
  bool start() {
    if (request_.work.length_bytes != 0 && connection_.responder_admits() && !is_admitted()) {
      failure_.refuse(request_, CompletionStatus::remote_access_error);
      return false;
    }
    begin_placement();
    request_.state = RequestState::moving;
    note_overtaking();
    return true;
  }

  void begin_placement() {
    placement_.begin(request_.work.length_bytes, request_.work.remote.offset,
                     world_.options.address_order && !waives_address_order(), world_.options);
  }

  bool waives_address_order() const {
    return request_.ordering >=
           (request_.is_read() ? RegionOrdering::unordered : RegionOrdering::relaxed);
  }

  void note_overtaking() {
    if (!request_.is_write()) {
      request_.has_passed_write =
          world_.regions.has_weak_ordering() && queue_.has_landing_before(request_);
    } else if (queue_.has_unanswered_before(request_)) {
      world_.count(SimulatorProbe::read_overtaken_by_write);
    }
  }

  bool is_admitted() { return connection_.responder().admit(request_); }

  // Returns the words that move now.
  Placement::Range go_on(const TransferAnswers& answers, bool has_just_started) {
    bool moves_words = placement_.has_unplaced();
    if (!answers.only_lands && may_take_packet(connection_, request_) &&
        (!moves_words || world_.choose(ChoiceKind::packet, 2, answers.arrival) == 0)) {
      next_packet(has_just_started);
      moves_words = placement_.has_unplaced() && moves_on_arrival();
    }
    return moves_words ? take_words(answers.units) : Placement::Range{};
  }

  // A READ samples words as its packets arrive. A WRITE may arrive long before it is in memory, or
  // in the step before.
  bool moves_on_arrival() {
    return request_.is_read() || world_.choose(ChoiceKind::packet, 2, only_second) == 0;
  }

  // About one in this number of transfers that have arrived completely is moved piece by piece.
  bool moves_whole() {
    constexpr std::uint64_t tear_rate = 4;
    return !world_.chance(ChoiceKind::placement_length, tear_rate, only_first);
  }

  void next_packet(bool has_just_started) {
    if (!connection_.responder_admits()) {
      if (!connection_.is_reliable()) failure_.drop(request_);
      return;
    }
    if (placement_.arrived_bytes() >= request_.surviving_bytes) {
      failure_.drop(request_);
      return;
    }
    // Also before the first packet, which may have found no receive request in an earlier step.
    if (request_.work.length_bytes != 0 && !has_just_started && !is_admitted()) {
      if (placement_.arrived_bytes() > 0) world_.count(SimulatorProbe::access_revoked_midway);
      failure_.refuse(request_, CompletionStatus::remote_access_error);
      return;
    }
    if (!connection_.is_reliable() &&
        world_.strikes(FaultKind::unreliable_loss, ChoiceKind::loss)) {
      world_.count(FaultKind::unreliable_loss);
      failure_.drop(request_);
      return;
    }
    if (request_.awaits_receive_request() && !admits_last_packet()) return;
    if (placement_.all_arrived()) return;  // an immediate number without data
    const std::uint64_t units = placement_.arrived_units();
    placement_.next_packet_arrives();
    touch_units(Access::writes, units, placement_.arrived_units() - units);
    if (request_.work.length_bytes > world_.options.mtu_bytes) {
      connection_.trace(EventKind::packet_arrives, request_, placement_.arrived_bytes(), 0, {});
    }
  }

  // The last packet of a WRITE with immediate consumes a receive request. If there is none, its
  // data may arrive all the same.
  bool admits_last_packet() {
    Responder& responder = connection_.responder();
    if (responder.has_receive_request()) {
      request_.consumed_receive_id = responder.take_receive_request();
      return true;
    }
    // An attempt that is repeated without end and moves nothing might as well come later.
    const Answers sufficient = connection_.retries_endlessly() ? only_first : all_answers;
    const bool has_data = !placement_.all_arrived();
    if (has_data && world_.choose(ChoiceKind::packet, 2, sufficient) == 0) return true;
    failure_.find_no_receive_request(request_);
    return false;
  }

  Placement::Range take_words(Answers units) {
    // The question is about all units that are not in place.
    if (units == all_answers) touch_units(Access::reads, 0, placement_.arrived_units());
    const bool takes_all = placement_.is_untouched() && moves_whole();
    const Placement::Range words =
        takes_all ? placement_.take_everything() : placement_.take_piece(world_, units);
    touch_units(Access::writes, words.first_unit, words.units);
    return words;
  }

  void move(const Placement::Range& words) {
    const bool is_read = request_.is_read();
    const std::uint64_t offset = request_.work.remote.offset + words.offset;
    world_.touch_memory(request_.target_block_number, offset, words.length_bytes,
                        is_read ? Access::reads : Access::writes);
    std::byte* const remote = request_.target + words.offset;
    const std::byte* const source = is_read ? remote : source_of_words(words);
    if (is_read) put_local(world_, request_, words.offset, {remote, words.length_bytes});
    world_.trace.record({.kind = is_read ? EventKind::words_read : EventKind::words_written,
                         .detail = static_cast<std::uint8_t>(request_.work.opcode),
                         .subject = connection_.number(),
                         .request = request_.work.id,
                         .offset = offset,
                         .data = {source, words.length_bytes},
                         .posted = &request_.work,
                         .block = request_.target_block,
                         .place = request_.place});
    if (!is_read) {
      if (world_.has_reserved_memory) {
        note_device_change(*request_.target_block, offset, words.length_bytes, "a WRITE");
      }
      write_words(remote, source, words.length_bytes);
    }
  }

  const std::byte* source_of_words(const Placement::Range& words) {
    if (world_.options.late_visibility) {
      // The late words are a set, and two WRITEs of one word depend on each other anyway.
      world_.touch(Touchable::late_words, connection_.number(),
                   world_.tells_lanes ? Access::adds : Access::writes);
    }
    return source_of(world_, request_, words.offset, words.length_bytes, scratch_);
  }

  void write_words(std::byte* remote, const std::byte* source, std::uint64_t length_bytes) {
    if (world_.options.late_visibility && world_.choose(ChoiceKind::visibility, 2) == 1) {
      world_.late_words.retain(remote, length_bytes, {connection_.number(), request_.place});
      std::memcpy(remote, source, length_bytes);
      world_.word_waits.wake(remote, length_bytes);
    } else {
      put_bytes(world_, remote, source, length_bytes);
    }
    if (connection_.is_dead()) world_.count(SimulatorProbe::orphan_applied);
  }

  // A WRITE is answered when all its packets have arrived, a READ when all its words have been
  // read.
  void settle() {
    if (!request_.has_started() || request_.is_done() || request_.expects_packet()) return;
    if (!placement_.has_unplaced()) {
      finish();
    } else if (request_.is_write()) {
      request_.state = RequestState::landing;
    }
  }

  void finish() {
    request_.state = RequestState::done;
    // From now on, the responder's processor sees the earlier WRITEs.
    if (request_.is_read() && !request_.has_passed_write) {
      connection_.show_writes_before(request_.place);
    }
    const bool is_noticed =
        request_.consumed_receive_id || (request_.is_read() && world_.options.late_visibility);
    if (is_noticed) touch_all_moves();
    if (request_.consumed_receive_id) connection_.responder().complete_write(connection_, request_);
  }

  // The step that finishes the request depends on the steps that moved its other words.
  void touch_all_moves() {
    const Touchable joined = request_.is_read() ? Touchable::answers : Touchable::writes;
    world_.touch_part(joined, connection_.number(), Access::writes, request_.place,
                      request_.place + 1);
  }

  void touch_units(Access access, std::uint64_t first, std::uint64_t count) {
    if (!world_.hears_parts) return;
    sim::touch_units(world_, connection_.number(), request_, access, first, count);
  }

  const Connection& connection_;
  World& world_;
  const SendQueue& queue_;
  Failure& failure_;
  Request& request_;
  Placement& placement_;
  std::vector<std::byte>& scratch_;
};

}  // namespace

void Transfers::progress(Request& request, const TransferAnswers& answers) {
  Step(connection_, queue_, failure_, request, scratch_).make(answers);
}

bool Transfers::can_arrive(const Request& request) const {
  if (!request.has_started()) return true;
  if (!request.placement.has_unplaced()) return true;
  return connection_.responder_admits() && may_take_packet(connection_, request);
}

}  // namespace falafel::sim
