#include "fabric/shm/life_sign.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <cstddef>

namespace falafel::shm {

// The list has one entry. The kernel finds the word at an offset from the entry, which may be any
// distance: the entry is private, so no peer can change the list.
LifeSign::LifeSign(std::atomic<std::uint32_t>& word) : word_(word) {
  std::size_t ignored = 0;
  ::syscall(SYS_get_robust_list, 0, &former_head_, &ignored);
  word_.store(static_cast<std::uint32_t>(::syscall(SYS_gettid)));
  entry_.next = &head_.list;
  head_.list.next = &entry_;
  head_.futex_offset = reinterpret_cast<std::byte*>(&word_) - reinterpret_cast<std::byte*>(&entry_);
  ::syscall(SYS_set_robust_list, &head_, sizeof head_);
}

LifeSign::~LifeSign() {
  ::syscall(SYS_set_robust_list, former_head_, sizeof head_);
  word_.store(0);
}

}  // namespace falafel::shm
