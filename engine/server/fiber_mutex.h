// A mutex for fibers that may wait while they hold it.
#pragma once

#include <memory>
#include <mutex>

#include "fabric/fabric.h"

namespace falafel::engine {

class FiberMutex {
 public:
  explicit FiberMutex(fabric::Host& host) : unlocked_(host.create_event()) {}

  void lock() {  // waits
    while (locked_) unlocked_->wait(fabric::never_ns);
    locked_ = true;
  }
  void unlock() {
    locked_ = false;
    unlocked_->notify_all();
  }
  bool is_locked() const { return locked_; }

 private:
  std::unique_ptr<fabric::Event> unlocked_;
  bool locked_ = false;
};

// Locks the mutex if the condition is true.
inline std::unique_lock<FiberMutex> lock_if(bool condition, FiberMutex& mutex) {
  return condition ? std::unique_lock(mutex) : std::unique_lock(mutex, std::defer_lock);
}

}  // namespace falafel::engine
