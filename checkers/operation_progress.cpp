#include "checkers/operation_progress.h"

#include <fmt/format.h>

#include <utility>

namespace falafel::checkers {

std::uint64_t OperationProgress::locked_ns(std::uint64_t time_ns) const {
  return is_any_locked_ ? locked_ns_ + (time_ns - locked_since_ns_) : locked_ns_;
}

void OperationProgress::on_change(bool is_any_locked, std::uint64_t time_ns) {
  ++changes_;
  locked_ns_ = locked_ns(time_ns);
  locked_since_ns_ = time_ns;
  is_any_locked_ = is_any_locked;
}

OperationProgress::Call OperationProgress::on_call(std::uint64_t time_ns) {
  return {.changes = changes_, .locked_ns = locked_ns(time_ns), .waited_ns = waited_ns_};
}

// Every failed attempt found either a change that no earlier attempt had found or a lock. Attempts
// that find the same lock are at least one back-off apart.
void OperationProgress::on_return(const Call& call, const Operation& operation, std::uint64_t verbs,
                                  std::uint64_t time_ns, std::uint64_t step) {
  const std::uint64_t changes = changes_ - call.changes;
  const std::uint64_t locked = locked_ns(time_ns) - call.locked_ns;
  const std::uint64_t most_attempts =
      bounds_.attempts + changes + locked / bounds_.shortest_lock_wait_ns;
  const std::uint64_t most_verbs = most_attempts * bounds_.verbs_of_attempt;
  const std::uint64_t waited_ns = waited_ns_ - call.waited_ns;
  if (verbs > most_verbs) {
    violate(
        "verbs", operation,
        fmt::format("posted {} verbs; {} changed entries and {} ns of locks during the operation "
                    "allow at most {}",
                    verbs, changes, locked, most_verbs),
        step);
  } else if (waited_ns > bounds_.longest_wait_ns) {
    violate("waiting", operation,
            fmt::format("waited for {} ns after the end of the faults; the bound is {} ns",
                        waited_ns, bounds_.longest_wait_ns),
            step);
  }
}

void OperationProgress::violate(std::string property, const Operation& operation,
                                std::string explanation, std::uint64_t step) {
  if (judgement_.verdict != Verdict::holds) return;
  judgement_ = {.verdict = Verdict::violated,
                .property = "progress.operation." + std::move(property),
                .explanation = fmt::format("step {}: the {} of {} by client {} {}", step,
                                           to_string(operation.kind), quote(operation.key),
                                           operation.client, explanation),
                .calls = {operation.call_time},
                .step = step};
}

}  // namespace falafel::checkers
