// Chooses the cached item that the server gives up when it needs room. A policy keeps an order of
// the items that the server has seen in use. Each policy has a file of its own.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

namespace falafel::c_hint {

using Item = std::uint64_t;  // the hash of its key

// Returns whether the lease of an item has ended, so that its memory may be used again.
using LeaseEnded = std::function<bool(Item)>;

class Replacement {
 public:
  virtual ~Replacement() = default;

  // `item` is not there; it has been used once.
  virtual void insert(Item item) = 0;
  // The server has seen `item` in use, or a client has reported accesses; it is there.
  virtual void hit(Item item, std::uint64_t accesses) = 0;
  // After each of them, when the item has its new lease: items that nobody uses any more go down.
  virtual void age(const LeaseEnded& /*has_ended*/) {}
  // Nothing happens if it is not there.
  virtual void erase(Item item) = 0;
  // Takes out the item that goes first, among those whose lease has ended. Nothing if the policy
  // finds none, although one may exist.
  virtual std::optional<Item> evict(const LeaseEnded& has_ended) = 0;
  // The queue of an item that is there. Queues of more popular items have higher numbers.
  virtual std::uint32_t queue_of(Item item) const = 0;
};

}  // namespace falafel::c_hint
