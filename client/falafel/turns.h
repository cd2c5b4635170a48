// A lock that threads get in the order in which they asked for it. With a mutex, a thread that
// takes it again at once would keep the others out.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>

namespace falafel {

class Turns {
 public:
  void lock() {
    std::unique_lock lock(mutex_);
    const std::uint64_t own = next_++;
    changed_.wait(lock, [&] { return current_ == own; });
  }
  void unlock() {
    {
      const std::lock_guard lock(mutex_);
      ++current_;
      if (current_ == next_) return;
    }
    changed_.notify_all();
  }
  // For the holder: whether another thread waits for its turn.
  bool is_awaited() {
    const std::lock_guard lock(mutex_);
    return next_ - current_ > 1;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::uint64_t next_ = 0;
  std::uint64_t current_ = 0;
};

}  // namespace falafel
