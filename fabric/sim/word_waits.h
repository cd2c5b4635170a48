// Fibers that wait for a word of memory to change (fabric::MemoryBlock::wait_until_changed). Every
// change of a block's memory passes through wake(), so a waiting fiber takes no step until its word
// has changed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "fabric/wait_list.h"

namespace falafel::sim {

class WordWaits {
 public:
  // A wait for the word to differ from `seen`. It ends with this object.
  class Wait {
   public:
    Wait(WordWaits& waits, const std::byte* word, std::uint64_t seen);
    ~Wait();
    Wait(const Wait&) = delete;
    Wait& operator=(const Wait&) = delete;

    fabric::WaitList& waiters() { return waiters_; }

   private:
    friend class WordWaits;
    WordWaits& waits_;
    const std::byte* word_;
    std::uint64_t seen_;
    fabric::WaitList waiters_;
  };

  // Call after the range has changed.
  void wake(const std::byte* begin, std::uint64_t length_bytes) {
    if (!waits_.empty()) wake_those_in(begin, length_bytes);
  }

 private:
  void wake_those_in(const std::byte* begin, std::uint64_t length_bytes);

  std::vector<Wait*> waits_;
};

}  // namespace falafel::sim
