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
  while (is_written_) released.wait(fabric::never_ns);
  ++readers_;
}

void ReaderWriterLock::lock(fabric::Event& released) {
  while (is_held()) released.wait(fabric::never_ns);
  is_written_ = true;
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
