// The time of the host at which a process gets the signal of alarm(2).
#pragma once

#include <cstdint>
#include <optional>

namespace falafel::simulated_verbs {

class AlarmOfProcess {
 public:
  // In that number of seconds from now, or never if it is 0. Returns the seconds that were left, as
  // alarm does.
  std::uint64_t set(std::uint64_t seconds, std::uint64_t now_ns);
  // True once: at the first call when the time has come.
  bool take(std::uint64_t now_ns);

 private:
  std::optional<std::uint64_t> due_ns_;
};

}  // namespace falafel::simulated_verbs
