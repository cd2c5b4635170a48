// How old values are when a full cache evicts them. If they are young, the cache is too small.
//
// The server takes no part in a SET. It first meets a value when it collects the region that has
// it, and a value's age counts from then. A value that is evicted before has the age 0. A server
// that starts over the memory of a former one counts all ages from its start.
//
// The time is kept by slot: 4 bytes for each. Whoever moves an entry to another slot says so.
#pragma once

#include <cstdint>
#include <vector>

#include "fabric/fabric.h"
#include "fabric/time_units.h"

namespace falafel::engine {

class ValueAges {
 public:
  // `slots`: of all tables that the store may have.
  ValueAges(fabric::Host& host, std::uint64_t slots)
      : host_(host), start_ns_(host.now_ns()), collected_s_(slots) {}

  // The value of the slot was moved out of a client's region.
  void on_collected(std::uint64_t slot) { collected_s_[slot] = now_s(); }
  // The entry of one slot was moved to another one.
  void on_moved(std::uint64_t from, std::uint64_t to) { collected_s_[to] = collected_s_[from]; }

  // Requires that the value of the slot has been moved out of a client's region.
  std::uint64_t age_s(std::uint64_t slot) const { return now_s() - collected_s_[slot]; }

 private:
  // 136 years.
  std::uint32_t now_s() const {
    return static_cast<std::uint32_t>((host_.now_ns() - start_ns_) / fabric::second_ns);
  }

  fabric::Host& host_;
  const std::uint64_t start_ns_;
  std::vector<std::uint32_t> collected_s_;  // seconds since the start
};

}  // namespace falafel::engine
