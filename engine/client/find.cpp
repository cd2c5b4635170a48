#include "engine/client/find.h"

#include <algorithm>
#include <new>
#include <optional>
#include <vector>

#include "engine/client/examination.h"
#include "engine/client/readahead.h"
#include "engine/client/walk.h"
#include "engine/layout/key_hash.h"
#include "engine/probes.h"

namespace falafel::engine {
namespace {

// One search from the home slot on. Returns nullopt if FIND has to restart.
class FindOperation {
 public:
  using Result = std::optional<FindResult>;

  FindOperation(PendingOperation& operation, std::span<const std::byte> key, std::uint64_t home,
                Walk::By by)
      : operation_(operation), key_(key), walk_(operation, home, by) {}

  Result run();
  bool met_lock() const { return met_lock_; }
  bool met_change() const { return met_change_; }

 private:
  Result search_chunk();
  // Searches the containers of the chunk's first `occupied` entries, several at once. Returns
  // nullopt if the key is not among them; `restart_` tells whether the search has to restart.
  Result search_containers(std::uint64_t occupied);
  Result examine(std::uint64_t index, std::uint32_t buffer);
  Result end_at_empty(std::uint64_t index);
  Result end_of_table();
  Result end_at(std::uint64_t index, const FindResult& result);
  Result start_over();
  Result unreadable(std::uint64_t index);
  std::uint32_t containers_ahead() const;

  PendingOperation& operation_;
  std::span<const std::byte> key_;
  Walk walk_;
  bool restart_ = false;
  bool met_lock_ = false;    // or another condition that ends with the cleanup
  bool met_change_ = false;  // the two passes differ
  Result damaged_;           // the first live entry with a damaged container
};

FindOperation::Result FindOperation::run() {
  while (!restart_) {
    if (!walk_.read_chunk()) return FindResult{.outcome = FindOutcome::disconnected};
    if (Result result = search_chunk()) return result;
  }
  return std::nullopt;
}

FindOperation::Result FindOperation::search_chunk() {
  const std::uint64_t occupied = walk_.occupied_entries();
  if (Result result = search_containers(occupied); result || restart_) return result;
  if (occupied < walk_.chunk_entries()) {
    if (!walk_.entry(occupied).is_locked()) return end_at_empty(occupied);
    operation_.count(probes::restart_at_lock);
    met_lock_ = true;
    return start_over();
  }
  return walk_.covers_table() ? end_of_table() : std::nullopt;
}

std::uint32_t FindOperation::containers_ahead() const {
  const ReadaheadOptions& readahead = operation_.session().options().readahead;
  if (!readahead.adaptive) return readahead.containers;
  const LoadEstimate& load = operation_.session().load();
  return expected_probes(load.occupied(), load.seen(), readahead.containers);
}

FindOperation::Result FindOperation::search_containers(std::uint64_t occupied) {
  const Geometry& geometry = operation_.session().server().geometry;
  const bool chain_ends_here = occupied < walk_.chunk_entries() && walk_.entry(occupied).is_empty();
  for (std::uint64_t first = 0; first < occupied;) {
    const std::uint64_t batch = std::min<std::uint64_t>(containers_ahead(), occupied - first);
    std::vector<fabric::WorkRequest>& chain = operation_.empty_chain();
    for (std::uint32_t buffer = 0; buffer < batch; ++buffer) {
      const Entry entry = walk_.entry(first + buffer);
      const std::uint64_t offset = geometry.to_offset(entry.offset_units());
      if (geometry.may_hold_container(offset)) {
        chain.push_back(operation_.read_container(offset, buffer));
      }
    }
    std::optional<fabric::WorkRequest> again;
    if (first == 0 && chain_ends_here && operation_.safeguards().double_collect &&
        operation_.session().options().readahead.validation) {
      again = walk_.second_reading(occupied);
    }
    if (again) chain.push_back(*again);
    if (!chain.empty() && !operation_.read(chain)) {
      return FindResult{.outcome = FindOutcome::disconnected};
    }
    if (again) walk_.compare_second_reading(occupied);
    for (std::uint32_t buffer = 0; buffer < batch; ++buffer) {
      if (Result result = examine(first + buffer, buffer); result || restart_) return result;
    }
    first += batch;
  }
  return std::nullopt;
}

FindOperation::Result FindOperation::examine(std::uint64_t index, std::uint32_t buffer) {
  const Geometry& geometry = operation_.session().server().geometry;
  const Entry entry = walk_.entry(index);
  const std::uint64_t offset = geometry.to_offset(entry.offset_units());
  if (!geometry.may_hold_container(offset)) return unreadable(index);
  const Examination examination =
      engine::examine(operation_, key_, operation_.container(offset, buffer));
  switch (examination.result) {
    case Examined::has_key: break;
    case Examined::has_other_key: return std::nullopt;
    case Examined::unreadable: return unreadable(index);
    case Examined::out_of_memory: return FindResult{.outcome = FindOutcome::out_of_memory};
    case Examined::disconnected: return FindResult{.outcome = FindOutcome::disconnected};
  }
  return FindResult{.outcome = FindOutcome::occupied,
                    .slot = walk_.slot(index),
                    .entry = entry,
                    .header = examination.header,
                    .container = examination.container};
}

FindOperation::Result FindOperation::end_at_empty(std::uint64_t index) {
  const FindResult result{
      .outcome = FindOutcome::empty, .slot = walk_.slot(index), .entry = walk_.entry(index)};
  return walk_.is_home(index) ? result : end_at(index, result);
}

FindOperation::Result FindOperation::end_of_table() {
  operation_.count(probes::walk_covered_table);
  Result result = end_at(walk_.chunk_entries() - 1, {.outcome = FindOutcome::table_walked});
  if (result) result->met_deleted = walk_.has_deleted();
  return result;
}

// No valid container up to this entry has the key.
FindOperation::Result FindOperation::end_at(std::uint64_t index, const FindResult& result) {
  const bool validates = operation_.safeguards().double_collect;
  switch (validates ? walk_.validate(index) : Walk::Validation::unchanged) {
    case Walk::Validation::unchanged: return damaged_.value_or(result);
    case Walk::Validation::disconnected: return FindResult{};
    case Walk::Validation::cleaning: met_lock_ = true; break;
    case Walk::Validation::changed: break;
  }
  met_change_ = true;
  operation_.count(probes::restart_at_changed_walk);
  return start_over();
}

FindOperation::Result FindOperation::start_over() {
  restart_ = true;
  return std::nullopt;
}

// The container of a deleted entry has no value to lose, regardless of its key.
FindOperation::Result FindOperation::unreadable(std::uint64_t index) {
  const std::uint64_t slot = walk_.slot(index);
  const Entry entry = walk_.entry(index);
  if (!operation_.note_bad_checksum(slot, entry)) return start_over();
  if (!damaged_ && !entry.is_deleted()) {
    damaged_ = FindResult{.outcome = FindOutcome::corrupted, .slot = slot, .entry = entry};
  }
  return std::nullopt;
}

// A cleanup holds its locks for several round trips, so an immediate retry would only load the
// device.
void wait_for_unlock(PendingOperation& operation, std::uint32_t attempts) {
  constexpr std::uint64_t shortest_ns = 2'000;
  constexpr std::uint32_t longest_doubling = 9;
  const std::uint64_t bound_ns = shortest_ns << std::min(attempts, longest_doubling);
  fabric::Host& host = operation.session().host();
  host.sleep_until(host.now_ns() + shortest_ns + host.random(bound_ns));
}

}  // namespace

FindResult find(PendingOperation& operation, std::span<const std::byte> key) {
  Session& session = operation.session();
  const std::uint64_t home =
      home_slot(key, session.server().hash_key, session.server().geometry.table_entries);
  operation.spend(fabric::Work::hash, key.size());
  // comparing words costs nothing, but only keys terminate behind a hot key
  Walk::By by = Walk::By::words;
  for (std::uint32_t locks_met = 0; !operation.is_overdue();) {
    FindOperation search(operation, key, home, by);
    try {
      if (const auto result = search.run()) return *result;
    } catch (const std::bad_alloc&) {  // a chain may have as many words as the table
      return {.outcome = FindOutcome::out_of_memory};
    }
    operation.restart();
    if (search.met_change()) by = Walk::By::keys;
    if (search.met_lock()) wait_for_unlock(operation, locks_met++);
  }
  return {.outcome = FindOutcome::timed_out};
}

}  // namespace falafel::engine
