// Fibers in real time: a scheduler runs those of one host, one at a time, first come first served. In
// between it lets the network get on, and when nothing is left to do it sleeps.
//
// A backend says by the interface Network how its network gets on and how to sleep until something comes.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "fabric/fabric.h"
#include "fabric/fiber_context.h"
#include "fabric/wait_list.h"

namespace falafel::fabric {

class Network {
 public:
  virtual ~Network() = default;
  // Goes on with what is under way as far as it goes without waiting, and wakes whose turn has come.
  virtual void progress() = 0;
  // When progress() is due although nothing comes.
  virtual std::uint64_t next_deadline_ns() const = 0;
  // Sleeps until something comes that progress() can go on with, or until the deadline; or shorter.
  virtual void idle_until(std::uint64_t deadline_ns) = 0;
};

class FiberScheduler;
class RealTimeFiber;

// Used by one thread at a time; waiting calls by its fibers only.
class FiberScheduler {
 public:
  // `spin_ns`: how long to look for work in vain before sleeping.
  FiberScheduler(Network& network, std::uint64_t spin_ns);
  // All fibers have ended: unwind_all().
  ~FiberScheduler();
  FiberScheduler(const FiberScheduler&) = delete;
  FiberScheduler& operator=(const FiberScheduler&) = delete;

  FiberId spawn(const FiberOptions& options, std::function<void()> body);
  void cancel(FiberId fiber);
  bool has_ended(FiberId fiber) const { return find(fiber) == nullptr; }

  // For the running fiber. Each throws FiberCancelled if it was cancelled, but for a wait where it may end.
  void join(FiberId fiber);
  void yield();
  bool wait(WaitList* list, std::uint64_t deadline_ns);  // true: woken
  bool is_cancelled() const;
  void may_end_here(bool here);
  // After a wait: whether a call returns without what it waited for.
  bool gives_up(std::uint64_t deadline_ns) const;
  // Where a call that waits finds nothing to wait for: gives way now and then, so that a fiber which
  // always finds its work done does not keep the others from theirs.
  void waited_for_nothing() {
    if (++waits_for_nothing_ % waits_per_turn == 0) yield();
  }

  // Runs the fibers until the condition holds.
  void run_until(const std::function<bool()>& condition);
  // Runs what is ready, without sleeping.
  void run_ready();
  bool has_foreground_fibers() const { return foreground_fibers_ > 0; }
  bool is_running_fiber() const { return running_ != nullptr; }
  // Cancels all fibers and runs them to their end.
  void unwind_all();

 private:
  friend class RealTimeFiber;
  static constexpr std::uint32_t waits_per_turn = 256;
  static constexpr std::uint64_t not_idle = 0;
  using Timer = std::pair<std::uint64_t, RealTimeFiber*>;

  RealTimeFiber* find(FiberId id) const;
  void make_ready(RealTimeFiber& fiber);
  void run(RealTimeFiber& fiber);
  void finish(RealTimeFiber& fiber);
  void suspend();
  void throw_if_cancelled();
  bool ends_here();
  void expire_timers();
  void rest(std::uint64_t& idle_since_ns);

  Network& network_;
  std::uint64_t spin_ns_;
  FiberStackPool stacks_;
  // By the low half of their identifiers, the high half counts the fibers that had the place before.
  std::vector<std::unique_ptr<RealTimeFiber>> fibers_;
  std::vector<std::uint16_t> generations_;
  std::vector<std::uint16_t> free_places_;
  RealTimeFiber* first_ready_ = nullptr;
  RealTimeFiber* last_ready_ = nullptr;
  std::set<Timer> timers_;
  RealTimeFiber* running_ = nullptr;
  std::uint32_t foreground_fibers_ = 0;
  std::uint32_t waits_for_nothing_ = 0;
};

}  // namespace falafel::fabric
