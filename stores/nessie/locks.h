// Locks in the private memory of a host, by number: those of groups of slots, with which the
// workers of a node exclude each other, and those of the workers themselves.
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <vector>

#include "fabric/fabric.h"

namespace falafel::nessie {

class Locks {
 public:
  using Numbers = std::set<std::uint64_t>;

  Locks(fabric::Host& host, std::uint64_t count);

  // The number of times that a fiber found a lock held.
  std::uint64_t waits() const { return waits_; }

 private:
  friend class LockHolder;
  void lock(std::uint64_t number);

  fabric::Host& host_;
  std::vector<bool> is_held_;
  std::unique_ptr<fabric::Event> released_;  // any lock: those who wait for others wait again
  std::uint64_t waits_ = 0;
};

class LockHolder {
 public:
  explicit LockHolder(Locks& locks) : locks_(locks) {}
  ~LockHolder() { release(); }
  LockHolder(const LockHolder&) = delete;
  LockHolder& operator=(const LockHolder&) = delete;

  // Releases what it holds and takes these, in ascending order, so that no two holders wait for
  // each other. Waits.
  void lock(const Locks::Numbers& numbers);

 private:
  void release();

  Locks& locks_;
  std::vector<std::uint64_t> held_;
};

}  // namespace falafel::nessie
