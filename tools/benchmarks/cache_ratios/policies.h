// Policies that decide which item leaves a full cache. All items have the same size.
//
// The trace tells a policy of an access only if its server would hear of it: the clients of a
// one-sided store read without the server.
#pragma once

#include <cstdint>
#include <memory>

namespace falafel::cache_ratios {

class Policy {
 public:
  virtual ~Policy() = default;
  virtual bool contains(std::uint64_t item) const = 0;
  // The server hears of an access to an item that the cache contains.
  virtual void accessed(std::uint64_t item) = 0;
  // Adds an item that the cache does not contain; another one may leave, or this one.
  virtual void insert(std::uint64_t item) = 0;
};

// `items`: how many different ones there are. `capacity`: how many the cache holds, at least 2.
std::unique_ptr<Policy> least_recently_used(std::uint64_t items, std::uint64_t capacity);
// CLOCK (Corbató 1968). An access raises the item's count up to `most_count`; the hand lowers each
// count that it passes, and removes the first item without one. 1 is the plain CLOCK.
std::unique_ptr<Policy> clock(std::uint64_t items, std::uint64_t capacity,
                              std::uint32_t most_count);
// W-TinyLFU (Einziger, Friedman, Manes, ACM Transactions on Storage 13(4), 2017): a window of 1 %,
// and a segmented LRU that admits the item that leaves the window only if that was accessed more
// often than the victim. The counts have four bits each and are exact, where the paper uses a
// sketch, so the ratios are upper bounds.
std::unique_ptr<Policy> window_tiny_lfu(std::uint64_t items, std::uint64_t capacity);

}  // namespace falafel::cache_ratios
