// Threads of a process wait for these: mutexes, conditions, locks of readers and writers,
// semaphores, barriers, and functions that run once. The objects of the C library are only names
// here: their state is kept by their addresses. One that was never initialized is as its static
// initializer makes it.
#pragma once

#include <pthread.h>
#include <semaphore.h>

#include <cstdint>
#include <ctime>
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "fabric/fabric.h"

namespace falafel::simulated_verbs {

class Thread;

// All calls that return an int return 0 or an errno. Those that wait end at their deadline with
// ETIMEDOUT; a deadline of 0 means not to wait (EBUSY).
class Locks {
 public:
  enum class MutexKind : std::uint8_t { normal, recursive, error_checking };

  explicit Locks(fabric::Host& host) : host_(host) {}
  Locks(const Locks&) = delete;
  Locks& operator=(const Locks&) = delete;

  void initialize_mutex(const void* mutex, MutexKind kind) { mutexes_[mutex] = {.kind = kind}; }
  int destroy_mutex(const void* mutex);
  int lock(const void* mutex, const Thread& self, std::uint64_t deadline_ns);
  int unlock(const void* mutex, const Thread& self);

  // `clock`: of the deadlines of timed waits.
  void initialize_condition(const void* condition, clockid_t clock) {
    conditions_[condition] = {.clock = clock, .waiters = {}};
  }
  void destroy_condition(const void* condition) { conditions_.erase(condition); }
  clockid_t clock_of(const void* condition) { return conditions_[condition].clock; }
  // Unlocks the mutex while it waits. A signal wakes one thread, chosen by the host's random
  // numbers.
  int wait(const void* condition, const void* mutex, const Thread& self, std::uint64_t deadline_ns);
  void signal(const void* condition);
  void broadcast(const void* condition);

  void initialize_shared_lock(const void* lock) { shared_locks_.erase(lock); }
  int lock_shared(const void* lock, std::uint64_t deadline_ns);
  int lock_exclusive(const void* lock, const Thread& self, std::uint64_t deadline_ns);
  int unlock_shared_lock(const void* lock, const Thread& self);

  void initialize_semaphore(const void* semaphore, unsigned value) {
    semaphores_[semaphore] = value;
  }
  int take(const void* semaphore, std::uint64_t deadline_ns);
  void give(const void* semaphore);
  unsigned value(const void* semaphore) { return semaphores_[semaphore]; }

  void initialize_barrier(const void* barrier, unsigned threads) {
    barriers_[barrier] = {.threads = threads};
  }
  void destroy_barrier(const void* barrier) { barriers_.erase(barrier); }
  // Returns when that many threads wait for it. True in the last of them.
  bool wait_for_others(const void* barrier);

  // Returns when the function has run, in this thread or in another one.
  void run_once(const void* control, const std::function<void()>& function);
  // The same in two parts. True: the caller runs the function, and then calls end_once().
  bool begin_once(const void* control);
  void end_once(const void* control);

 private:
  struct Mutex {
    MutexKind kind = MutexKind::normal;
    const Thread* owner = nullptr;
    std::uint32_t depth = 0;
  };
  // A thread that waits for a condition.
  class Waiter {
   public:
    explicit Waiter(std::vector<Waiter*>& waiters) : waiters_(waiters) { waiters.push_back(this); }
    ~Waiter() { std::erase(waiters_, this); }
    Waiter(const Waiter&) = delete;
    Waiter& operator=(const Waiter&) = delete;

    bool is_woken = false;

   private:
    std::vector<Waiter*>& waiters_;
  };
  struct Condition {
    clockid_t clock = CLOCK_REALTIME;
    std::vector<Waiter*> waiters{};
  };
  struct SharedLock {
    std::uint32_t readers = 0;
    const Thread* writer = nullptr;
  };
  struct Barrier {
    unsigned threads = 1;
    unsigned waiting = 0;
    std::uint64_t rounds = 0;
  };
  enum class Once : std::uint8_t { not_begun, running, done };

  // Waits until the condition holds (0), or until the deadline.
  template <typename Predicate>
  int wait_until(const Predicate& holds, std::uint64_t deadline_ns);
  void notify();

  fabric::Host& host_;
  std::unique_ptr<fabric::Event> changed_;  // made when the first thread waits
  std::map<const void*, Mutex> mutexes_;
  std::map<const void*, Condition> conditions_;
  std::map<const void*, SharedLock> shared_locks_;
  std::map<const void*, unsigned> semaphores_;
  std::map<const void*, Barrier> barriers_;
  std::map<const void*, Once> once_;
};

}  // namespace falafel::simulated_verbs
