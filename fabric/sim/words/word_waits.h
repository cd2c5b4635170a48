// Waits for memory to change: fibers that wait for a word (fabric::MemoryBlock::
// wait_until_changed), and events that existing programs poll by. Every change of a block's memory
// by the fabric passes through wake(), so a waiting fiber takes no step until its word has changed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "fabric/fabric.h"
#include "fabric/wait_list.h"

namespace falafel::sim {

class WordWaits {
 public:
  // Hears of changes in a range as long as it exists.
  class Listener {
   public:
    Listener(WordWaits& waits, const std::byte* begin, std::uint64_t length_bytes);
    virtual ~Listener();
    Listener(const Listener&) = delete;
    Listener& operator=(const Listener&) = delete;

   private:
    friend class WordWaits;
    virtual void range_changed() = 0;

    WordWaits& waits_;
    const std::byte* begin_;
    std::uint64_t length_bytes_;
  };

  // A wait for the word to differ from `seen`. It ends with this object.
  class Wait final : public Listener {
   public:
    Wait(WordWaits& waits, const std::byte* word, std::uint64_t seen);

    fabric::WaitList& waiters() { return waiters_; }

   private:
    void range_changed() override;

    const std::byte* word_;
    std::uint64_t seen_;
    fabric::WaitList waiters_;
  };

  // Notifies an event of every change.
  class Watch final : public Listener {
   public:
    Watch(WordWaits& waits, const std::byte* begin, std::uint64_t length_bytes,
          fabric::Event& event)
        : Listener(waits, begin, length_bytes), event_(event) {}

   private:
    void range_changed() override { event_.notify_all(); }

    fabric::Event& event_;
  };

  // Call after the range has changed.
  void wake(const std::byte* begin, std::uint64_t length_bytes) {
    if (!listeners_.empty()) wake_those_in(begin, length_bytes);
  }

 private:
  void wake_those_in(const std::byte* begin, std::uint64_t length_bytes);

  std::vector<Listener*> listeners_;
};

}  // namespace falafel::sim
