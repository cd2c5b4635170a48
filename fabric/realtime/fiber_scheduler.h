// Fibers in real time. A scheduler runs the fibers of one host, one at a time, in the order in
// which they became ready. Between rounds it lets the network make progress, and it sleeps when
// nothing is left to do.
//
// A backend implements the interface Network: how its network makes progress, and how to sleep
// until there is something to do.
#pragma once

#include <boost/intrusive/list.hpp>
#include <boost/intrusive/set.hpp>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "fabric/fabric.h"
#include "fabric/fiber_context.h"
#include "fabric/wait_list.h"

namespace falafel::fabric {

class Network {
 public:
  virtual ~Network() = default;
  // Continues pending work as far as possible without waiting, and wakes the fibers that waited for
  // it.
  virtual void progress() = 0;
  // When progress() is due even if nothing arrives.
  virtual std::uint64_t next_deadline_ns() const = 0;
  // Sleeps until progress() has something to do or until the deadline. It may return early.
  virtual void idle_until(std::uint64_t deadline_ns) = 0;
};

class FiberScheduler;
class RealTimeFiber;

// One thread at a time may use it. Only its fibers may make calls that wait.
class FiberScheduler {
 public:
  // `spin_ns`: how long to look for work before sleeping.
  FiberScheduler(Network& network, std::uint64_t spin_ns);
  // All fibers must have ended; see unwind_all().
  ~FiberScheduler();
  FiberScheduler(const FiberScheduler&) = delete;
  FiberScheduler& operator=(const FiberScheduler&) = delete;

  // An exception of the body goes to `thrown`, or aborts the program if that is null. Throws
  // std::bad_alloc; nothing has changed then. No other function needs memory.
  FiberId spawn(const FiberOptions& options, std::function<void()> body,
                std::exception_ptr* thrown = nullptr);
  void cancel(FiberId fiber);
  bool has_ended(FiberId fiber) const { return find(fiber) == nullptr; }

  // For the running fiber. Each throws FiberCancelled if the fiber was cancelled, except a wait at
  // a place where the fiber may end.
  void join(FiberId fiber);
  void yield();
  bool wait(WaitList* list, std::uint64_t deadline_ns);  // true: woken
  bool is_cancelled() const;
  void set_cooperative(bool is_cooperative);
  // After a wait: whether the call must return without what it waited for.
  bool gives_up(std::uint64_t deadline_ns) const;
  // Waits until the word differs from `seen`, and returns it; at the deadline, and for a fiber that
  // may end, `seen`. Whoever changes the word need not say so: the scheduler looks at it in every
  // round, and again and again while nothing else is left to do.
  std::uint64_t wait_until_changed(std::uint64_t& word, std::uint64_t seen,
                                   std::uint64_t deadline_ns);
  // For a call that waits but finds its work done already. It yields once in many such calls, so a
  // fiber whose work is always done cannot starve the others.
  void waited_for_nothing() {
    if (++waits_for_nothing_ % waits_per_turn == 0) yield();
  }

  // Runs the fibers until the condition holds.
  void run_until(const std::function<bool()>& condition);
  // Runs what is ready, without sleeping. An exception of the network ends the process, because the
  // fibers that wait for the network cannot receive it.
  void run_ready() noexcept;
  bool has_foreground_fibers() const { return foreground_fibers_ > 0; }
  bool is_running_fiber() const { return running_ != nullptr; }
  // Cancels all fibers and runs them to their end.
  void unwind_all();

 private:
  friend class RealTimeFiber;
  using UnlinksItself = boost::intrusive::link_mode<boost::intrusive::auto_unlink>;
  // A fiber's wait for a word, and its timer, are parts of the fiber, so a wait needs no memory.
  struct WordWait : boost::intrusive::list_base_hook<UnlinksItself> {
    std::uint64_t* word = nullptr;
    std::uint64_t seen = 0;
    std::uint64_t since_ns = 0;
    WaitList waiters{};
  };
  class WaitingForWord;
  struct Timer : boost::intrusive::set_base_hook<UnlinksItself> {
    explicit Timer(RealTimeFiber& owner) : fiber(owner) {}
    friend bool operator<(const Timer& one, const Timer& other) {
      return one.deadline_ns < other.deadline_ns;
    }

    RealTimeFiber& fiber;
    std::uint64_t deadline_ns = never_ns;
  };
  using Unsized = boost::intrusive::constant_time_size<false>;
  static constexpr std::uint32_t waits_per_turn = 256;
  static constexpr std::uint64_t not_idle = 0;

  void add_place();
  RealTimeFiber* find(FiberId id) const;
  void make_ready(RealTimeFiber& fiber);
  void run(RealTimeFiber& fiber);
  void finish(RealTimeFiber& fiber);
  void suspend();
  void throw_if_cancelled();
  bool ends_here();
  void expire_timers();
  void look_at_words();
  std::uint64_t next_look_ns(std::uint64_t now_ns) const;
  void rest(std::uint64_t& idle_since_ns);

  Network& network_;
  std::uint64_t spin_ns_;
  FiberStackPool stacks_;
  // The low half of an identifier is the index here; the high half counts the earlier fibers at
  // that index.
  std::vector<std::unique_ptr<RealTimeFiber>> fibers_;
  std::vector<std::uint16_t> generations_;
  std::vector<std::uint16_t> free_places_;
  RealTimeFiber* first_ready_ = nullptr;
  RealTimeFiber* last_ready_ = nullptr;
  boost::intrusive::multiset<Timer, Unsized> timers_;
  boost::intrusive::list<WordWait, Unsized> word_waits_;
  RealTimeFiber* running_ = nullptr;
  std::uint32_t foreground_fibers_ = 0;
  std::uint32_t waits_for_nothing_ = 0;
};

}  // namespace falafel::fabric
