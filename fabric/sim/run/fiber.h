// Fibers of simulated hosts. A fiber is an actor; one step runs the program up to its next wait.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "fabric/fabric.h"
#include "fabric/fiber_context.h"
#include "fabric/sim/run/host_clock.h"
#include "fabric/sim/run/scheduler.h"
#include "fabric/wait_list.h"

namespace falafel::sim {

class HostState;
class Turns;
struct World;

// A call of a fiber that does not wait, and what it looks at.
struct Call {
  enum class Kind : std::uint8_t { clock, word, bytes, completion_queue, posting };
  Kind kind = Kind::clock;
  std::uint32_t number = 0;  // of the block, the completion queue or the queue pair
  std::uint64_t offset = 0;  // in the block
};

// More than a program needs that looks through all of its memory in one step.
inline constexpr std::uint64_t most_calls_of_step = 4'000'000;

class Fiber final : public Actor, public Timer, public fabric::Waiter {
 public:
  Fiber(World& world, HostState& host, fabric::FiberId id, const fabric::FiberOptions& options,
        std::function<void()> body);

  // For the fiber itself; each throws FiberCancelled if the fiber was cancelled, but for a wait
  // where it may end.
  bool wait(fabric::WaitList* list, std::uint64_t deadline_ns,
            std::string_view what);  // true: woken
  void yield();
  bool cancelled() const { return cancelled_; }
  void set_cooperative(bool is_cooperative) { is_cooperative_ = is_cooperative; }

  // A call that does not wait. A fiber that makes too many of them in one step ends the run: it
  // would go on forever, because nothing else can move.
  void count_call(Call call) {
    if (++calls_ > most_calls_of_step) spin(call);
  }
  // The same on a queue pair or completion queue of `owner`. Throws a std::logic_error if the
  // program calls it on another host; observers may, which look at everything.
  void count_call(const HostState& owner, Call call) {
    if (&owner != &host_) refuse_foreign_call(owner, call);
    count_call(call);
  }
  // Looks at the clock of a host.
  std::uint64_t read_clock(const HostClock& clock) {
    count_call({Call::Kind::clock});
    return clock.now_ns();
  }
  // The call that the fiber waits in, for descriptions.
  void note_call(Call call) { call_ = call; }
  std::string describe_spinning() const;

  // For other objects than the fiber itself.
  void cancel();
  void unwind();  // cancels the fiber and runs it until it has unwound
  bool finished() const { return finished_; }
  bool daemon() const { return daemon_; }
  void count_in_program(bool counts);  // whether the run waits for this fiber
  HostState& host() const { return host_; }
  fabric::FiberId id() const { return id_; }
  fabric::WaitList& joiners() { return joiners_; }

  void step() override;
  void expired() override;
  Deadline deadline() const override;
  std::string describe() const override;

 private:
  void wake() override;
  void become_ready();
  void set_due_when_noticed();
  void set_ready(bool is_ready);
  void take_turn(Turns& turns, bool is_ready);
  void timed_resume();
  void touch() const;
  static void enter(void* self);
  void run_body();
  void resume();
  void finish();
  void suspend();
  [[gnu::cold]] void refuse_foreign_call(const HostState& owner, Call call) const;
  void spin(Call call);
  bool ends_here();
  [[noreturn]] void throw_cancelled();

  World& world_;
  HostState& host_;
  fabric::FiberId id_;
  std::string name_;
  bool daemon_;
  bool counts_in_program_ = false;
  std::function<void()> body_;
  fabric::FiberContext context_;
  fabric::WaitList joiners_;
  std::string_view waits_for_;
  bool woken_ = false;
  bool cancelled_ = false;
  bool is_cooperative_ = false;
  bool was_told_to_end_ = false;
  bool unwinding_ = false;
  bool finished_ = false;
  std::uint64_t calls_ = 0;  // in the present step
  Call call_;                // that it waits in, or that ended the run
};

}  // namespace falafel::sim
