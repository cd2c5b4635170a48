#include "fabric/sim/timing/cost_model.h"

#include <algorithm>
#include <bit>

namespace falafel::sim::timing {

std::uint64_t CostModel::work_ps(fabric::Work work, std::uint64_t bytes) const {
  switch (work) {
    case fabric::Work::hash: return profile_.hash_ps + bytes * profile_.hash_ps_per_byte;
    case fabric::Work::checksum:
      return profile_.checksum_ps + bytes * profile_.checksum_ps_per_byte;
    case fabric::Work::crc64_check: return crc64_ps(profile_.crc64_check_ps_per_byte, bytes);
    case fabric::Work::crc64_update: return crc64_ps(profile_.crc64_update_ps_per_byte, bytes);
    case fabric::Work::copy: return profile_.copy_ps + bytes * profile_.copy_ps_per_byte;
    case fabric::Work::operation: return profile_.operation_ps;
    case fabric::Work::round_trip: return profile_.round_trip_ps;
    case fabric::Work::lock: return profile_.lock_ps;
    case fabric::Work::list_step: return bytes * profile_.conditions.list_step_ps_per_pair;
  }
  FALAFEL_ASSERT(false, "unknown work {}", static_cast<int>(work));
}

std::uint64_t CostModel::crc64_ps(std::uint64_t ps_per_byte, std::uint64_t bytes) const {
  return profile_.checksum_ps +
         bytes * (profile_.has_crc64 ? ps_per_byte : profile_.checksum_ps_per_byte);
}

Machine& CostModel::machine(std::string_view name) {
  const auto found = std::ranges::find(
      machines_, name, [](const auto& machine) -> std::string_view { return machine->name; });
  if (found != machines_.end()) return **found;
  machines_.push_back(std::make_unique<Machine>(
      Machine{.name = std::string(name),
              .card = {},
              .processors = Processors(profile_.conditions, profile_.processors)}));
  return *machines_.back();
}

Thread CostModel::add_thread(std::string_view machine_name) {
  Thread thread;
  if (!profile_.conditions.shares_processors) return thread;
  thread.shared = &machine(machine_name).processors;
  thread.number = thread.shared->add_thread();
  return thread;
}

std::uint64_t CostModel::notice_ns(bool thread_waits) const {
  const bool is_woken = thread_waits && threads_block();
  return to_ns(profile_.poll_ps) + (is_woken ? profile_.conditions.wake_ns : 0);
}

// About exponential: each doubling of the lateness halves its probability. Integers, so that all
// machines draw the same.
std::uint64_t CostModel::draw_lateness_ps() {
  constexpr std::uint64_t parts = 1'024;
  const auto whole = static_cast<std::uint64_t>(std::countl_zero(random_->next()));
  const std::uint64_t part = random_->below(parts);
  // The mean of `whole` is 1, and that of `part` half of `parts`.
  return to_ps(profile_.conditions.jitter_ns) * (whole * parts + part) * 2 / (3 * parts);
}

}  // namespace falafel::sim::timing
