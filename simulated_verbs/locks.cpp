#include "simulated_verbs/locks.h"

#include <algorithm>
#include <cerrno>

namespace falafel::simulated_verbs {

template <typename Predicate>
int Locks::wait_until(const Predicate& holds, std::uint64_t deadline_ns) {
  if (changed_ == nullptr) changed_ = host_.create_event();
  while (!holds()) {
    if (deadline_ns == 0) return EBUSY;
    if (host_.now_ns() >= deadline_ns) return ETIMEDOUT;
    changed_->wait(deadline_ns);
  }
  return 0;
}

void Locks::notify() {
  if (changed_ != nullptr) changed_->notify_all();
}

int Locks::destroy_mutex(const void* mutex) {
  if (mutexes_[mutex].owner != nullptr) return EBUSY;
  mutexes_.erase(mutex);
  return 0;
}

int Locks::lock(const void* mutex, const Thread& self, std::uint64_t deadline_ns) {
  Mutex& state = mutexes_[mutex];
  if (state.owner == &self && state.kind == MutexKind::recursive) {
    ++state.depth;
    return 0;
  }
  const bool is_checked = state.owner == &self && state.kind == MutexKind::error_checking;
  if (is_checked && deadline_ns != 0) return EDEADLK;
  const auto is_free = [&] { return state.owner == nullptr; };
  if (const int error = wait_until(is_free, deadline_ns); error != 0) return error;
  state.owner = &self;
  state.depth = 1;
  return 0;
}

int Locks::unlock(const void* mutex, const Thread& self) {
  Mutex& state = mutexes_[mutex];
  if (state.owner != &self) return EPERM;
  if (--state.depth == 0) {
    state.owner = nullptr;
    notify();
  }
  return 0;
}

int Locks::wait(const void* condition, const void* mutex, const Thread& self,
                std::uint64_t deadline_ns) {
  int result = 0;
  {
    const Waiter waiter(conditions_[condition].waiters);
    if (const int error = unlock(mutex, self); error != 0) return error;
    result = wait_until([&] { return waiter.is_woken; }, deadline_ns);
  }
  lock(mutex, self, fabric::never_ns);
  return result == EBUSY ? ETIMEDOUT : result;
}

void Locks::signal(const void* condition) {
  std::vector<Waiter*>& waiters = conditions_[condition].waiters;
  if (waiters.empty()) return;
  const std::uint64_t index = waiters.size() == 1 ? 0 : host_.random(waiters.size());
  waiters[index]->is_woken = true;
  waiters.erase(waiters.begin() + static_cast<std::ptrdiff_t>(index));
  notify();
}

void Locks::broadcast(const void* condition) {
  std::vector<Waiter*>& waiters = conditions_[condition].waiters;
  for (Waiter* waiter : waiters) waiter->is_woken = true;
  waiters.clear();
  notify();
}

int Locks::lock_shared(const void* lock, std::uint64_t deadline_ns) {
  SharedLock& state = shared_locks_[lock];
  const auto is_free = [&] { return state.writer == nullptr; };
  if (const int error = wait_until(is_free, deadline_ns); error != 0) return error;
  ++state.readers;
  return 0;
}

int Locks::lock_exclusive(const void* lock, const Thread& self, std::uint64_t deadline_ns) {
  SharedLock& state = shared_locks_[lock];
  const auto is_free = [&] { return state.writer == nullptr && state.readers == 0; };
  if (const int error = wait_until(is_free, deadline_ns); error != 0) return error;
  state.writer = &self;
  return 0;
}

int Locks::unlock_shared_lock(const void* lock, const Thread& self) {
  SharedLock& state = shared_locks_[lock];
  if (state.writer == &self) {
    state.writer = nullptr;
  } else if (state.readers > 0) {
    --state.readers;
  } else {
    return EPERM;
  }
  notify();
  return 0;
}

int Locks::take(const void* semaphore, std::uint64_t deadline_ns) {
  unsigned& value = semaphores_[semaphore];
  if (const int error = wait_until([&] { return value > 0; }, deadline_ns); error != 0)
    return error;
  --value;
  return 0;
}

void Locks::give(const void* semaphore) {
  ++semaphores_[semaphore];
  notify();
}

bool Locks::wait_for_others(const void* barrier) {
  Barrier& state = barriers_[barrier];
  if (++state.waiting == state.threads) {
    state.waiting = 0;
    ++state.rounds;
    notify();
    return true;
  }
  const std::uint64_t round = state.rounds;
  wait_until([&] { return state.rounds != round; }, fabric::never_ns);
  return false;
}

void Locks::run_once(const void* control, const std::function<void()>& function) {
  if (!begin_once(control)) return;
  function();
  end_once(control);
}

bool Locks::begin_once(const void* control) {
  Once& state = once_[control];
  wait_until([&] { return state != Once::running; }, fabric::never_ns);
  if (state == Once::done) return false;
  state = Once::running;
  return true;
}

void Locks::end_once(const void* control) {
  once_[control] = Once::done;
  notify();
}

}  // namespace falafel::simulated_verbs
