// Adaptive Replacement Cache (Megiddo, Modha: ARC: A Self-Tuning, Low Overhead Replacement Cache,
// USENIX FAST 2003), by which a client decides whose pointers it keeps, and what it reports as hot
// (C-Hint 3.4).
//
// L1 has the items that were used once lately, L2 those that were used more often. Each is
// divided into the items that are cached and, behind them, ghosts: items that were cached lately.
// A hit of a ghost moves the target size of the cached part of L1 toward the list of that ghost.
#pragma once

#include <array>
#include <cstdint>
#include <list>
#include <map>
#include <optional>

namespace falafel::c_hint {

class AdaptiveReplacement {
 public:
  using Item = std::uint64_t;

  // Caches at most `capacity` items, at least 1.
  explicit AdaptiveReplacement(std::uint64_t capacity) : capacity_(capacity) {}

  // `item` is used, and cached from now on. Returns the item that is no longer cached instead, if
  // any.
  std::optional<Item> access(Item item);
  // Forgets the item, its ghost too.
  void erase(Item item);
  bool is_cached(Item item) const;

  // The cached items of L1 and L2, the least recently used first.
  const std::list<Item>& used_once() const { return lists_[recent]; }
  const std::list<Item>& used_often() const { return lists_[frequent]; }
  std::uint64_t size() const { return lists_[recent].size() + lists_[frequent].size(); }
  // The size that the cached part of L1 should have.
  std::uint64_t target() const { return target_; }

 private:
  // The four lists; T1, T2, B1, B2 in the paper.
  enum Name : std::uint8_t { recent, frequent, recent_ghosts, frequent_ghosts };
  struct Place {
    Name list = recent;
    std::list<Item>::iterator at{};
  };

  std::uint64_t size_of(Name list) const { return lists_[list].size(); }
  void move_to(Place& place, Name list);
  void forget_oldest(Name list);
  Item replace(bool hits_frequent_ghost);
  std::optional<Item> make_room_for_new();

  std::uint64_t capacity_;
  std::uint64_t target_ = 0;
  std::array<std::list<Item>, 4> lists_;  // the least recent first
  std::map<Item, Place> places_;
};

}  // namespace falafel::c_hint
