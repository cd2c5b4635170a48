#include "simulated_verbs/unmodified/alarm_of_process.h"

#include <algorithm>
#include <utility>

#include "fabric/time_units.h"

namespace falafel::simulated_verbs {

std::uint64_t AlarmOfProcess::set(std::uint64_t seconds, std::uint64_t now_ns) {
  const auto before = std::exchange(due_ns_, std::nullopt);
  if (seconds != 0) due_ns_ = now_ns + seconds * fabric::second_ns;
  if (!before) return 0;
  // An alarm that is left is not reported as none.
  const std::uint64_t left_ns = *before - std::min(now_ns, *before);
  return std::max<std::uint64_t>((left_ns + fabric::second_ns / 2) / fabric::second_ns, 1);
}

bool AlarmOfProcess::take(std::uint64_t now_ns) {
  const bool is_due = due_ns_ && *due_ns_ <= now_ns;
  if (is_due) due_ns_.reset();
  return is_due;
}

}  // namespace falafel::simulated_verbs
