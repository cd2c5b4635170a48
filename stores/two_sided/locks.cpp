#include "stores/two_sided/locks.h"

namespace falafel::two_sided {

void Mutex::lock(fabric::Event& released) {
  while (is_held_) released.wait(fabric::never_ns);
  is_held_ = true;
}

void Mutex::unlock(fabric::Event& released) {
  FALAFEL_ASSERT(is_held_, "a mutex is unlocked that nobody holds");
  is_held_ = false;
  released.notify_all();
}

void ReaderWriterLock::lock_shared(fabric::Event& released) {
  while (!try_lock_shared()) released.wait(fabric::never_ns);
}

void ReaderWriterLock::lock(fabric::Event& released) {
  while (!try_lock()) released.wait(fabric::never_ns);
}

bool ReaderWriterLock::try_lock_shared() {
  if (is_written_) return false;
  ++readers_;
  return true;
}

bool ReaderWriterLock::try_lock() {
  if (is_held()) return false;
  is_written_ = true;
  return true;
}

void ReaderWriterLock::unlock(fabric::Event& released) {
  FALAFEL_ASSERT(is_held(), "a reader-writer lock is unlocked that nobody holds");
  if (is_written_) {
    is_written_ = false;
  } else {
    --readers_;
  }
  released.notify_all();
}

}  // namespace falafel::two_sided
