// Switching to a fiber and back, inlined where it happens most: in the loop of a run, and where a fiber waits for
// a completion. What is inlined does not return, so that after a switch fewer returns can be guessed wrong by a
// processor whose stack of return addresses has been through other fibers. It is also less to unwind.
#pragma once

#include <utility>

#include "fabric/sim/fiber.h"
#include "fabric/sim/host.h"
#include "fabric/sim/world.h"

namespace falafel::sim {

inline void Fiber::leave_list() {
  if (waits_in_ != nullptr) waits_in_->remove(*this);
}

[[gnu::always_inline]] inline void Fiber::resume() {
  Fiber* const resumed_by = world_.running;
  world_.running = this;
  context_.resume();
  world_.running = resumed_by;
  if (context_.finished() && !finished_) finish();
}

[[gnu::always_inline]] inline void Fiber::step_here() {
  world_.trace.record({.kind = EventKind::fiber_runs, .subject = id_});
  if (cancelled_ && !context_.started()) {
    body_ = nullptr;
    finish();
    return;
  }
  resume();
}

[[gnu::always_inline]] inline void Fiber::suspend() {
  FALAFEL_ASSERT(world_.running == this, "fiber '{}' waits while another one runs", name_);
  FALAFEL_ASSERT(!unwinding_, "fiber '{}' of host {} waits while it is being unwound", name_,
                 host_.name());
  context_.suspend();
  if (cancelled_) leave_list();
}

// Whether a cancelled fiber's wait is cut short: once.
inline bool Fiber::ends_here() { return may_end_here_ && !std::exchange(was_told_to_end_, true); }

[[gnu::always_inline]] inline bool Fiber::wait_here(WaitList* list, std::uint64_t deadline_ns,
                                                    std::string_view what) {
  if (cancelled_ && ends_here()) return false;
  if (cancelled_ || deadline_ns <= world_.trace.time_ns()) {
    yield();
    return false;
  }
  woken_ = false;
  waits_for_ = what;
  if (list != nullptr) list->add(*this);
  world_.ready.set_work(*this, false);
  if (deadline_ns != fabric::never_ns) world_.timers.set(*this, deadline_ns);
  suspend();
  if (cancelled_ && !ends_here()) throw_cancelled();
  if (deadline_ns != fabric::never_ns) world_.timers.cancel(*this);
  leave_list();
  waits_for_ = {};
  return woken_;
}

}  // namespace falafel::sim
