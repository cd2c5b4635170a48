// The actors that can move, by the time of their next step; those with equal times by how long they
// have waited, then by their numbers. A heap in which each node has four children, so that even a
// thousand actors make few levels, with the times beside each other in memory.
#pragma once

#include <cstdint>
#include <vector>

#include "fabric/assert.h"

namespace falafel::sim {
class Actor;
}

namespace falafel::sim::timing {

class DueQueue {
 public:
  bool empty() const { return heap_.empty(); }
  std::uint64_t earliest_ns() const { return heap_.front().due_ns; }
  Actor& earliest() const { return *heap_.front().actor; }

  void insert(Actor& actor);
  void remove(Actor& actor);
  void move(Actor& actor);  // its time has changed

 private:
  struct Entry {
    std::uint64_t due_ns;
    std::uint64_t waits_since_ns;
    std::uint32_t number;
    Actor* actor;
  };

  static bool before(const Entry& left, const Entry& right) {
    if (left.due_ns != right.due_ns) return left.due_ns < right.due_ns;
    if (left.waits_since_ns != right.waits_since_ns) {
      return left.waits_since_ns < right.waits_since_ns;
    }
    return left.number < right.number;
  }
  static Entry entry_of(Actor& actor);
  void place(const Entry& entry, std::uint32_t position);
  void settle(const Entry& entry, std::uint32_t position);
  bool rise(const Entry& entry, std::uint32_t& position);
  void sink(const Entry& entry, std::uint32_t& position);

  std::vector<Entry> heap_;
};

}  // namespace falafel::sim::timing
