// Least recently used: one queue. With leases, it is the server's half of Approx-LRU (C-Hint 5),
// which knows only the accesses that the server has seen or that clients have reported.
#pragma once

#include <cstdint>
#include <list>
#include <map>

#include "stores/c_hint/replacement.h"

namespace falafel::c_hint {

class Lru final : public Replacement {
 public:
  // evict() looks at the head of the queue and at `probes` items behind it.
  explicit Lru(std::uint32_t probes) : probes_(probes) {}

  void insert(Item item) override;
  void hit(Item item, std::uint64_t accesses) override;
  void erase(Item item) override;
  std::optional<Item> evict(const LeaseEnded& has_ended) override;
  std::uint32_t queue_of(Item item) const override;

 private:
  std::uint32_t probes_;
  std::list<Item> queue_;  // the least recent first
  std::map<Item, std::list<Item>::iterator> places_;
};

}  // namespace falafel::c_hint
