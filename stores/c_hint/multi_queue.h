// Multi-Queue (Zhou, Philbin, Li: The Multi-Queue Replacement Algorithm for Second Level Buffer
// Caches, USENIX ATC 2001), the algorithm from which C-Hint's queues are derived.
//
// An item that was used c times is in queue log2(c). Time is counted in accesses. An item that was
// not used for its life time moves one queue down when it is at the head of its queue. A ghost list
// remembers the counts of items that were evicted.
#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <vector>

#include "stores/c_hint/replacement.h"

namespace falafel::c_hint {

class MultiQueue final : public Replacement {
 public:
  // `life_time` is in accesses; `ghosts` is the length of the ghost list.
  MultiQueue(std::uint32_t queues, std::uint64_t life_time, std::uint64_t ghosts)
      : queues_(queues), life_time_(life_time), most_ghosts_(ghosts) {}

  void insert(Item item) override;
  void hit(Item item, std::uint64_t accesses) override;
  void erase(Item item) override;
  // The head of the lowest queue whose head's lease has ended.
  std::optional<Item> evict(const LeaseEnded& has_ended) override;
  std::uint32_t queue_of(Item item) const override { return places_.at(item).queue; }

 private:
  struct Place {
    std::uint64_t count = 1;
    std::uint64_t expires_at = 0;  // in accesses
    std::uint32_t queue = 0;
    std::list<Item>::iterator at{};
  };
  struct Ghost {
    std::uint64_t count = 0;
    std::list<Item>::iterator at{};
  };

  std::uint32_t queue_for(std::uint64_t count) const;
  std::uint64_t take_ghost(Item item);
  void remember(Item item, std::uint64_t count);
  void move_to(Place& place, std::uint32_t queue);
  void adjust();

  std::vector<std::list<Item>> queues_;  // the least recent first
  std::uint64_t life_time_;
  std::uint64_t most_ghosts_;
  std::uint64_t accesses_ = 0;
  std::map<Item, Place> places_;
  std::list<Item> ghost_queue_;  // the oldest first
  std::map<Item, Ghost> ghosts_;
};

}  // namespace falafel::c_hint
