// The queues of popularity-differentiated lease assignment (C-Hint 3.3): an item that was used c
// times is in queue log2(c), and longer leases are granted to items in higher queues.
//
// A hit moves the item to the end of the queue that its count calls for, or to the end of its own
// if that is not above. After each access, the head of each queue but the lowest moves one queue
// down if its lease has ended: nobody has used it for a while. Its count stays, or is halved
// (Aging).
#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <vector>

#include "stores/c_hint/replacement.h"

namespace falafel::c_hint {

// The effect of aging on the count of an item that moves down; the paper does not say.
enum class Aging : std::uint8_t { keeps_count, halves_count };

class PopularityQueues final : public Replacement {
 public:
  // evict() looks at the head of each queue, the lowest first, and at `probes` items behind it.
  PopularityQueues(std::uint32_t queues, std::uint32_t probes, Aging aging)
      : queues_(queues), probes_(probes), aging_(aging) {}

  void insert(Item item) override;
  void hit(Item item, std::uint64_t accesses) override;
  void age(const LeaseEnded& has_ended) override;
  void erase(Item item) override;
  std::optional<Item> evict(const LeaseEnded& has_ended) override;
  std::uint32_t queue_of(Item item) const override { return places_.at(item).queue; }

 private:
  struct Place {
    std::uint64_t count = 1;  // accesses that the server knows of
    std::uint32_t queue = 0;
    std::list<Item>::iterator at{};
  };

  std::uint32_t queue_for(std::uint64_t count) const;
  void move_to(Place& place, std::uint32_t queue);

  std::vector<std::list<Item>> queues_;  // the least recent first
  std::uint32_t probes_;
  Aging aging_;
  std::map<Item, Place> places_;
};

}  // namespace falafel::c_hint
