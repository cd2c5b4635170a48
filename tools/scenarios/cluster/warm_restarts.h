// Draws how servers of a changing cluster end and whether their memory stays. The next process of a
// server serves the memory that stayed, and is empty otherwise.
#pragma once

#include <cstddef>
#include <cstdint>

#include "explorer/check/world.h"
#include "fabric/random.h"
#include "tools/scenarios/cluster/restart_watch.h"

namespace falafel::cluster_scenario {

class WarmRestarts {
 public:
  explicit WarmRestarts(check::World& world);

  // Draws what becomes of the server's memory, now that its process ends.
  Memory end_process(std::size_t server);
  // The share of calls of an operator during which a server crashes.
  std::uint64_t crash_percent() const { return crash_percent_; }
  // The share of processes that end in order.
  std::uint64_t orderly_percent() const { return orderly_percent_; }
  // Returns whether copies count in the memory alone that got them.
  bool compares_incarnations() const { return compares_incarnations_; }
  // Returns whether the server's next process must forget what its memory has.
  bool forgets(std::size_t server) const { return !keeps_copies_ && watch_.has_copies(server); }
  RestartWatch& watch() { return watch_; }

 private:
  RestartWatch watch_;
  const bool compares_incarnations_;
  const bool keeps_copies_;
  const std::uint64_t warm_percent_;
  const std::uint64_t crash_percent_;
  const std::uint64_t orderly_percent_;
  fabric::RandomGenerator random_;
};

}  // namespace falafel::cluster_scenario
