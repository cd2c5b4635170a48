// Tells peers that a process has ended, before anything else can: before its parent learns of it,
// and before its locks are free. So whoever sees what came after the process, such as another one
// with its name, also sees that it has ended.
#pragma once

#include <linux/futex.h>

#include <atomic>
#include <cstdint>

namespace falafel::shm {

// While a thread has this object, the kernel marks the word when the thread ends with its process.
// It takes the place of the thread's robust mutexes.
class LifeSign {
 public:
  explicit LifeSign(std::atomic<std::uint32_t>& word);
  ~LifeSign();
  LifeSign(const LifeSign&) = delete;
  LifeSign& operator=(const LifeSign&) = delete;

 private:
  std::atomic<std::uint32_t>& word_;
  robust_list entry_{};
  robust_list_head head_{};
  robust_list_head* former_head_ = nullptr;
};

inline bool has_ended(const std::atomic<std::uint32_t>& word) {
  return (word.load() & FUTEX_OWNER_DIED) != 0;
}

}  // namespace falafel::shm
