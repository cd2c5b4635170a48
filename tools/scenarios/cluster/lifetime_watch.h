// Times to live in a changing cluster whose servers are caches. Clients store values that expire,
// and a change copies them: it reads a value, and then stores it for the time that is left. It does
// not know how long storing takes, so each copy may live longer by that time, but not by more: the
// change subtracts the time that has passed since it listed the keys (engine/placement/change.cpp).
// The copy of a pinned value is pinned, and no other one.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "fabric/fabric.h"

namespace falafel::cluster_scenario {

class LifetimeWatch {
 public:
  // The time to live of a SET; 0: the value does not expire; engine::pinned_time_to_live_ns: it is
  // pinned.
  static std::uint64_t draw_time_to_live_ns(fabric::Host& host);
  // A client or a change calls a SET, and hears that the value is stored.
  void on_called(const std::string& key, const std::string& value);
  void on_stored(const std::string& key, const std::string& value, std::uint64_t time_to_live_ns,
                 std::uint64_t now_ns);
  // A change is about to store a copy. Returns an objection to its time to live.
  std::optional<std::string> objection_to_copy(const std::string& key, const std::string& value,
                                               std::uint64_t time_to_live_ns,
                                               std::uint64_t now_ns) const;

 private:
  struct Life {
    std::uint64_t latest_ns = 0;  // when the value expires at the latest; never_ns: it does not
    bool may_be_pinned = false;
    bool may_be_unpinned = false;
  };
  std::map<std::pair<std::string, std::string>, Life> lives_;
  // SETs without an answer so far.
  std::multiset<std::pair<std::string, std::string>> pending_;
};

}  // namespace falafel::cluster_scenario
