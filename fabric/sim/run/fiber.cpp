#include "fabric/sim/run/fiber.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <exception>
#include <stdexcept>
#include <string>
#include <utility>

#include "fabric/sim/run/host_state.h"
#include "fabric/sim/run/world.h"

namespace falafel::sim {
namespace {

std::string describe_call(const Call& call) {
  switch (call.kind) {
    case Call::Kind::clock: return "the clock";
    case Call::Kind::word:
      return fmt::format("the word at offset {} of memory {}", call.offset, call.number);
    case Call::Kind::bytes:
      return fmt::format("the bytes from offset {} of memory {}", call.offset, call.number);
    case Call::Kind::completion_queue: return fmt::format("completion queue {}", call.number);
    case Call::Kind::posting: break;
  }
  return fmt::format("queue pair {}", call.number);
}

}  // namespace

inline void Fiber::set_ready(bool is_ready) {
  if (Turns* const turns = host_.turns(); turns != nullptr) {
    take_turn(*turns, is_ready);
  } else {
    world_.ready.set_work(*this, is_ready);
  }
}

Fiber::Fiber(World& world, HostState& host, fabric::FiberId id, const fabric::FiberOptions& options,
             std::function<void()> body)
    : world_(world),
      host_(host),
      id_(id),
      name_(options.name),
      daemon_(options.daemon),
      body_(std::move(body)),
      context_(world.stacks, options.name, &Fiber::enter, this) {
  world_.ready.introduce(*this);
  touch();
  set_ready(true);
  count_in_program(true);
}

void Fiber::enter(void* self) { static_cast<Fiber*>(self)->run_body(); }

void Fiber::run_body() {
  try {
    body_();
  } catch (const fabric::FiberCancelled&) {
    unwinding_ = true;
  } catch (const std::exception& error) {
    FALAFEL_ASSERT(false, "fiber '{}' of host {} ended with an exception: {}", name_, host_.name(),
                   error.what());
  }
  body_ = nullptr;  // destructors of its captures may call the fabric, as the fiber
}

void Fiber::finish() {
  FALAFEL_ASSERT(!finished_, "fiber '{}' of host {} finishes twice", name_, host_.name());
  touch();
  finished_ = true;
  stop_waiting();
  world_.timers.cancel(*this);
  set_ready(false);
  count_in_program(false);
  joiners_.wake_all();
}

void Fiber::count_in_program(bool counts) {
  if (daemon_ || counts_in_program_ == counts || (counts && finished_)) return;
  counts_in_program_ = counts;
  world_.touch(Touchable::program_end, 0, Access::adds);
  if (counts) {
    ++world_.unfinished_foreground_fibers;
  } else {
    FALAFEL_ASSERT(world_.unfinished_foreground_fibers > 0, "fiber '{}' was not counted", name_);
    --world_.unfinished_foreground_fibers;
  }
}

void Fiber::wake() {
  touch();
  woken_ = true;
  become_ready();
}

// A fiber that takes turns with others may have to wait for its turn.
void Fiber::take_turn(Turns& turns, bool is_ready) {
  if (is_ready) {
    turns.enter(*this);
  } else {
    turns.leave(*this);
  }
}

// In a timed run, the program notices after a while, and only when its thread is free.
void Fiber::become_ready() {
  if (world_.costs != nullptr) set_due_when_noticed();
  set_ready(true);
}

void Fiber::set_due_when_noticed() {
  const bool thread_runs = world_.running != nullptr && &world_.running->host() == &host_;
  const bool thread_waits = !thread_runs && host_.thread().free_at_ns <= world_.local_time_ns();
  if (thread_waits && world_.costs->threads_block()) host_.thread().wake();
  const std::uint64_t notices_ns = world_.local_time_ns() + world_.costs->notice_ns(thread_waits);
  world_.ready.set_due(*this, std::max(notices_ns, host_.thread().free_at_ns), notices_ns);
}

// Runs the fiber when its thread is free; fibers that wait for it run in the order in which they
// noticed, as those of the real backends do. The thread is then busy for as long as the fiber
// spends.
void Fiber::timed_resume() {
  timing::Thread& thread = host_.thread();
  const std::uint64_t now_ns = world_.trace.time_ns();
  const std::uint64_t runs_ns = thread.next_turn_ns(now_ns);
  if (runs_ns > now_ns) {
    world_.ready.postpone(*this, runs_ns);
    return;
  }
  world_.spent_ps = thread.begin_turn_ps(now_ns);
  resume();
  thread.end_turn(now_ns, std::exchange(world_.spent_ps, 0));
  // A fiber that yields looks again after a while.
  const std::uint64_t poll_ns =
      std::max<std::uint64_t>(1, timing::to_ns(world_.costs->profile().poll_ps));
  if (world_.ready.contains(*this)) world_.ready.set_due(*this, thread.free_at_ns + poll_ns);
}

void Fiber::resume() {
  calls_ = 0;
  Fiber* const resumed_by = world_.running;
  world_.running = this;
  context_.resume();
  world_.running = resumed_by;
  if (context_.finished() && !finished_) finish();
}

void Fiber::suspend() {
  FALAFEL_ASSERT(world_.running == this, "fiber '{}' waits while another one runs", name_);
  FALAFEL_ASSERT(!unwinding_, "fiber '{}' of host {} waits while it is being unwound", name_,
                 host_.name());
  // Each fiber has an errno of its own, as each thread has.
  const int error = errno;
  context_.suspend();
  errno = error;
  if (cancelled_) stop_waiting();
}

// The fiber makes no further step, so it is left where it is until the run is destroyed.
void Fiber::spin(Call call) {
  note_call(call);
  FALAFEL_ASSERT(!unwinding_ && world_.running == this,
                 "{}, while it is being unwound or another one runs", describe_spinning());
  calls_ = 0;
  world_.spinning = this;
  world_.touch(Touchable::world, 0, Access::writes);
  world_.stop();
  suspend();
  throw_cancelled();
}

void Fiber::refuse_foreign_call(const HostState& owner, Call call) const {
  if (world_.trace.is_reporting()) return;
  throw std::logic_error(fmt::format(
      "fiber '{}' of host {} uses {} of host {}. A host is a process of its own, so its "
      "fibers use its own queue pairs and completion queues only",
      name_, host_.name(), describe_call(call), owner.name()));
}

std::string Fiber::describe_spinning() const {
  return fmt::format(
      "fiber {} '{}' of {} has made {} calls without one that waits, the last one about {}; while "
      "it "
      "runs, nothing that it looks at can change. Wait for it instead (CompletionQueue::wait, "
      "MemoryBlock::wait_until_changed), or call Host::yield in the loop",
      id_, name_, host_.name(), most_calls_of_step, describe_call(call_));
}

void Fiber::step() {
  world_.trace.record({.kind = EventKind::fiber_runs, .subject = id_});
  world_.touch(Touchable::host_program, host_.index(), Access::writes);
  if (daemon_) world_.touch(Touchable::program_end, 0, Access::reads);
  if (cancelled_ && !context_.started()) {
    body_ = nullptr;
    finish();
    return;
  }
  if (world_.costs != nullptr) {
    timed_resume();
  } else {
    resume();
  }
}

void Fiber::throw_cancelled() {
  FALAFEL_ASSERT(!unwinding_, "fiber '{}' of host {} waits while it is being unwound", name_,
                 host_.name());
  unwinding_ = true;
  throw fabric::FiberCancelled{};
}

// Tells if this is the one wait of a cancelled fiber that is cut short instead of unwound.
bool Fiber::ends_here() { return is_cooperative_ && !std::exchange(was_told_to_end_, true); }

bool Fiber::wait(fabric::WaitList* list, std::uint64_t deadline_ns, std::string_view what) {
  if (cancelled_ && ends_here()) return false;
  const std::uint64_t wakes_at_ns = host_.clock().time_of(deadline_ns);
  if (cancelled_ || wakes_at_ns <= world_.trace.time_ns()) {
    yield();
    return false;
  }
  woken_ = false;
  waits_for_ = what;
  if (list != nullptr) list->add(*this);
  set_ready(false);
  if (wakes_at_ns != fabric::never_ns) world_.timers.set(*this, wakes_at_ns);
  suspend();
  if (cancelled_ && !ends_here()) throw_cancelled();
  if (wakes_at_ns != fabric::never_ns) world_.timers.cancel(*this);
  stop_waiting();
  waits_for_ = {};
  return woken_;
}

void Fiber::yield() {
  if (cancelled_) throw_cancelled();
  if (host_.turns() != nullptr) {  // others come first
    set_ready(false);
    set_ready(true);
  }
  suspend();
  if (cancelled_) throw_cancelled();
}

void Fiber::cancel() {
  if (finished_) return;
  touch();
  cancelled_ = true;
  set_ready(true);
}

void Fiber::unwind() {
  cancel();
  if (finished_ || world_.running == this) return;
  if (context_.started()) {
    const std::uint64_t spent_ps = std::exchange(world_.spent_ps, 0);  // by whoever unwinds it
    resume();
    world_.spent_ps = spent_ps;
  } else {
    body_ = nullptr;
    finish();
  }
  FALAFEL_ASSERT(finished_, "fiber '{}' of host {} did not unwind", name_, host_.name());
}

void Fiber::expired() { become_ready(); }

Deadline Fiber::deadline() const {
  return {.host = host_.name(), .fiber = name_, .waits_for = waits_for_};
}

void Fiber::touch() const { world_.touch(Touchable::actor, actor_id(), Access::writes); }

std::string Fiber::describe() const {
  const std::string_view state = finished_             ? "finished"
                                 : cancelled_          ? "being cancelled"
                                 : !context_.started() ? "about to start"
                                 : waits_for_.empty()  ? "running"
                                                       : "waits for";
  const bool waits_for_word = !waits_for_.empty() && call_.kind == Call::Kind::word &&
                              waits_for_.find("word") != std::string_view::npos;
  return fmt::format("fiber {} '{}' of {}{}: {} {}{}", id_, name_, host_.name(),
                     daemon_ ? " (daemon)" : "", state, waits_for_,
                     waits_for_word
                         ? fmt::format(" (offset {} of memory {})", call_.offset, call_.number)
                         : std::string());
}

}  // namespace falafel::sim
