#include "fabric/sim/network/atomics.h"

#include "fabric/masked_atomics.h"
#include "fabric/sim/memory/device_writes.h"
#include "fabric/sim/memory/uncommitted_use.h"
#include "fabric/sim/network/local_buffer.h"
#include "fabric/sim/network/responder.h"
#include "fabric/sim/words/words.h"

namespace falafel::sim {

using fabric::CompletionStatus;

namespace {

// About one atomic in this number has a gap. Others need not use it, so no gap adds nothing.
constexpr std::uint64_t gap_rate = 8;

}  // namespace

void Atomics::progress(Request& request) {
  if (request.state == RequestState::in_gap) {
    finish(request);
    return;
  }
  if (!connection_.responder().admit(request)) {
    failure_.refuse(request, CompletionStatus::remote_access_error);
    return;
  }
  World& world = connection_.world();
  HeldWords& held_words = connection_.responder().held_words();
  if (WordHolder* holder = held_words.holder_of(request.target)) {
    world.count(SimulatorProbe::atomic_met_held_word);
    holder->leave_gap(request.target);
  }
  request.old_word = load_word(request.target);
  const bool writes =
      fabric::writes_word(request.work, request.old_word) || world.options.failing_cas_writes_back;
  world.touch_memory(request.target_block_number, request.work.remote.offset, fabric::word_bytes,
                     writes ? Access::writes : Access::reads);
  if (!writes) {
    trace_read(request);
    if (!connection_.is_dead()) return_old_word(request);
    request.state = RequestState::done;
    return;
  }
  const bool has_gap = world.options.atomic_capability != fabric::AtomicCapability::global &&
                       world.chance(ChoiceKind::atomic_gap, gap_rate, only_first);
  if (!has_gap) {
    finish(request);
    return;
  }
  trace_read(request);
  request.state = RequestState::in_gap;
  held_words.hold(request.target, queue_pair_);
}

void Atomics::finish(Request& request) {
  FALAFEL_ASSERT(!request.is_answered() && request.target != nullptr,
                 "atomic {} writes in state {}", request.work.id, to_string(request.state));
  World& world = connection_.world();
  const std::uint64_t word = fabric::word_after(request.work, request.old_word);
  world.touch_memory(request.target_block_number, request.work.remote.offset, fabric::word_bytes,
                     Access::writes);
  world.trace.record({.kind = EventKind::atomic_written,
                      .detail = static_cast<std::uint8_t>(request.work.opcode),
                      .subject = connection_.number(),
                      .request = request.work.id,
                      .offset = request.work.remote.offset,
                      .word = word,
                      .previous_word = request.old_word,
                      .posted = &request.work,
                      .block = request.target_block,
                      .place = request.place});
  if (world.has_reserved_memory) {
    note_device_change(*request.target_block, request.work.remote.offset, fabric::word_bytes,
                       "an atomic");
  }
  put_word(world, request.target, word);
  if (request.state == RequestState::in_gap) {
    connection_.responder().held_words().release(request.target);
  }
  request.state = RequestState::done;
  if (connection_.is_dead()) {
    world.count(SimulatorProbe::orphan_applied);
  } else {
    return_old_word(request);
  }
}

void Atomics::return_old_word(const Request& request) const {
  World& world = connection_.world();
  touch_local_buffer(world, request, 0, request.work.length_bytes);
  put_word(world, request.local, request.old_word);
}

void Atomics::trace_read(const Request& request) const {
  connection_.trace(EventKind::atomic_read, request, request.work.remote.offset, request.old_word,
                    {}, request.target_block);
}

}  // namespace falafel::sim
