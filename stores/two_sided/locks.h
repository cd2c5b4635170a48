// The locks of the table. A worker that waits for one lets the others run.
//
// All locks of a table share one event: who releases a lock wakes all waiters, and those of other
// locks wait again.
#pragma once

#include <cstdint>

#include "fabric/fabric.h"

namespace falafel::two_sided {

class Mutex {
 public:
  void lock(fabric::Event& released);
  void unlock(fabric::Event& released);
  bool is_held() const { return is_held_; }

 private:
  bool is_held_ = false;
};

// Any number of readers, or one writer.
class ReaderWriterLock {
 public:
  void lock_shared(fabric::Event& released);
  void lock(fabric::Event& released);
  // False: the lock is held in a way that excludes this one.
  bool try_lock_shared();
  bool try_lock();
  // By either kind of holder.
  void unlock(fabric::Event& released);
  bool is_held() const { return is_written_ || readers_ > 0; }

 private:
  std::uint32_t readers_ = 0;
  bool is_written_ = false;
};

}  // namespace falafel::two_sided
