// What the steps of a timed run cost: the machines with their cards and processors, and the values
// of the profile. A machine has one card, and each host on it one thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "fabric/fabric.h"
#include "fabric/sim/timing/card.h"
#include "fabric/sim/timing/profile.h"

namespace falafel::sim::timing {

constexpr std::uint64_t to_ps(std::uint64_t time_ns) { return time_ns * 1'000; }
// The first nanosecond that is not before the time.
constexpr std::uint64_t to_ns(std::uint64_t time_ps) { return (time_ps + 999) / 1'000; }

struct Machine {
  std::string name;
  Card card;
};

// The thread of a host: its fibers take turns on it.
struct Thread {
  std::uint64_t free_at_ns = 0;
  std::uint64_t busy_ps = 0;
};

class CostModel {
 public:
  explicit CostModel(Profile profile) : profile_(std::move(profile)) {}

  const Profile& profile() const { return profile_; }
  // How long the processor takes for the work.
  std::uint64_t work_ps(fabric::Work work, std::uint64_t bytes) const;
  // The machine of that name. It exists from its first mention on.
  Machine& machine(std::string_view name);
  const std::vector<std::unique_ptr<Machine>>& machines() const { return machines_; }

 private:
  Profile profile_;
  std::vector<std::unique_ptr<Machine>> machines_;
};

}  // namespace falafel::sim::timing
