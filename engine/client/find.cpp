#include "engine/client/find.h"

#include <algorithm>
#include <array>
#include <boost/container/static_vector.hpp>
#include <new>
#include <optional>
#include <utility>
#include <vector>

#include "engine/client/examination.h"
#include "engine/client/readahead.h"
#include "engine/client/walk.h"
#include "engine/layout/references.h"
#include "engine/probes.h"

namespace falafel::engine {
namespace {

// An entry of the chunk whose container may have the key.
struct Candidate {
  std::uint64_t index = 0;
  bool may_hold_container = false;
  LoadedContainer container{};
};

// One search from the home slot on.
class FindOperation {
 public:
  FindOperation(PendingOperation& operation, const HashedKey& key, Walk::By by)
      : operation_(operation),
        buffers_(operation.buffers()),
        key_(key),
        references_(operation.geometry()),
        walk_(operation, key.hash, by) {}

  // Returns nullptr if FIND has to restart.
  const FindResult* run();
  bool met_lock() const { return met_lock_; }
  bool met_change() const { return met_change_; }

 private:
  // A part of the search is followed by more of it, by the end with result_, or by a restart.
  enum class Next : std::uint8_t { go_on, end, restart };

  Next search_chunk();
  // Searches the containers of the candidates, several at once.
  Next search_containers(std::uint64_t occupied);
  // The next entry that may have the key, from `index` on; `occupied` if there is none.
  std::uint64_t next_candidate(std::uint64_t index, std::uint64_t occupied) const;
  std::uint64_t fill_batch(std::uint64_t index, std::uint64_t occupied);
  bool may_hold_container(Entry entry) const;
  // Returns false if the connection is broken. If it `validates` and there is room, the second
  // reading up to `end` shares the round trip.
  bool read_batch(bool validates, std::uint64_t end);
  Next examine(const Candidate& candidate);
  Next end_at_empty(std::uint64_t index);
  Next go_on_behind(std::uint64_t index);
  Next end_of_table();
  Next end_at(std::uint64_t index, const FindResult& result);
  Next wait_for_audit();
  Next end_with(const FindResult& result);
  Next unreadable(std::uint64_t index);
  std::uint32_t containers_ahead() const;

  PendingOperation& operation_;
  OperationBuffers& buffers_;
  HashedKey key_;
  References references_;
  Walk walk_;
  boost::container::static_vector<Candidate, max_containers_ahead> batch_;  // read by one chain
  bool met_lock_ = false;    // or another condition that ends with the cleanup
  bool met_change_ = false;  // the two passes differ
  FindResult result_;
  std::optional<FindResult> damaged_;  // the first live entry with a damaged container
};

const FindResult* FindOperation::run() {
  for (Next next = search_chunk(); next != Next::restart; next = search_chunk()) {
    if (next == Next::end) return &result_;
    if (operation_.has_walked_too_long()) {
      end_with({.outcome = FindOutcome::timed_out});
      return &result_;
    }
  }
  return nullptr;
}

FindOperation::Next FindOperation::end_with(const FindResult& result) {
  result_ = result;
  return Next::end;
}

FindOperation::Next FindOperation::search_chunk() {
  if (!walk_.read_chunk()) return end_with({.outcome = FindOutcome::disconnected});
  if (walk_.is_beyond_tables()) return wait_for_audit();
  const std::uint64_t occupied = walk_.occupied_entries();
  if (const Next next = search_containers(occupied); next != Next::go_on) return next;
  if (occupied < walk_.chunk_entries()) {
    if (walk_.is_frozen(occupied)) return go_on_behind(occupied);
    if (!walk_.entry(occupied).is_locked()) return end_at_empty(occupied);
    operation_.count(probes::restart_at_lock);
    met_lock_ = true;
    return Next::restart;
  }
  return walk_.covers_table() ? end_of_table() : Next::go_on;
}

FindOperation::Next FindOperation::go_on_behind(std::uint64_t index) {
  operation_.count(walk_.is_frozen(index) ? probes::met_frozen_slot
                                          : probes::walk_went_on_behind_table);
  return walk_.go_on_behind(index) ? Next::go_on : wait_for_audit();
}

// No server has frozen the entry that led here. It is repaired like a lock.
FindOperation::Next FindOperation::wait_for_audit() {
  met_lock_ = true;
  return Next::restart;
}

std::uint32_t FindOperation::containers_ahead() const {
  const ReadaheadOptions& readahead = operation_.session().options().readahead;
  if (!expects_probes(readahead)) return readahead.containers;
  const LoadEstimate& load = operation_.session().load();
  return expected_probes(load.occupied(), load.seen(), readahead.containers);
}

bool FindOperation::may_hold_container(Entry entry) const {
  const ServerMemory& server = operation_.session().server();
  return server.may_hold_container(server.geometry.to_offset(entry.reference()));
}

std::uint64_t FindOperation::next_candidate(std::uint64_t index, std::uint64_t occupied) const {
  const auto may_have_key = [&](Entry entry) {
    return references_.may_have_key(entry, key_.hash) && !walk_.has_no_key(entry);
  };
  while (index < occupied && !may_have_key(walk_.entry(index))) ++index;
  return index;
}

// Fills the batch with the candidate at `index` and as many others as are read ahead and fit into
// the buffer. Returns the first one that is not among them.
std::uint64_t FindOperation::fill_batch(std::uint64_t index, std::uint64_t occupied) {
  const std::uint32_t most = containers_ahead();
  std::uint64_t used_bytes = 0;
  for (batch_.clear(); batch_.size() < most && index < occupied;) {
    const Entry entry = walk_.entry(index);
    Candidate candidate{.index = index, .may_hold_container = may_hold_container(entry)};
    if (candidate.may_hold_container) {
      candidate.container = buffers_.container_of(entry, used_bytes);
    }
    used_bytes += candidate.container.loaded_bytes;
    if (used_bytes > buffers_.container_buffer_bytes()) break;
    batch_.push_back(candidate);
    index = next_candidate(index + 1, occupied);
  }
  return index;
}

bool FindOperation::read_batch(bool validates, std::uint64_t end) {
  std::vector<fabric::WorkRequest>& chain = buffers_.empty_chain();
  for (const Candidate& candidate : batch_) {
    if (candidate.may_hold_container) {
      chain.push_back(buffers_.read_container(candidate.container));
    }
  }
  const bool reads_again = validates && walk_.add_second_reading(end, chain);
  if (!chain.empty() && !operation_.read(chain)) return false;
  if (reads_again) walk_.compare_second_reading(end);
  return true;
}

FindOperation::Next FindOperation::search_containers(std::uint64_t occupied) {
  const bool chain_ends_here = occupied < walk_.chunk_entries() &&
                               walk_.entry(occupied).is_empty() && !walk_.is_frozen(occupied);
  // Otherwise the first candidate is probably the key, and the second reading would be wasted.
  const bool expects_foreign_candidate = occupied >> operation_.geometry().fingerprint_bits > 0;
  bool validates = chain_ends_here && expects_foreign_candidate &&
                   operation_.safeguards().double_collect &&
                   operation_.session().options().readahead.validation;
  for (std::uint64_t next = next_candidate(0, occupied); next < occupied;) {
    next = fill_batch(next, occupied);
    const bool validates_now = std::exchange(validates, false);
    if (!read_batch(validates_now, occupied)) {
      return end_with({.outcome = FindOutcome::disconnected});
    }
    for (const Candidate& candidate : batch_) {
      if (const Next after = examine(candidate); after != Next::go_on) return after;
    }
    if (next < occupied && operation_.has_walked_too_long()) {
      return end_with({.outcome = FindOutcome::timed_out});
    }
  }
  return Next::go_on;
}

FindOperation::Next FindOperation::examine(const Candidate& candidate) {
  const std::uint64_t index = candidate.index;
  if (!candidate.may_hold_container) return unreadable(index);
  const Examination examination = engine::examine(operation_, key_.bytes, candidate.container);
  switch (examination.result) {
    case Examined::has_key: break;
    case Examined::has_other_key: return Next::go_on;
    case Examined::unreadable: return unreadable(index);
    case Examined::out_of_memory: return end_with({.outcome = FindOutcome::out_of_memory});
    case Examined::disconnected: return end_with({.outcome = FindOutcome::disconnected});
  }
  return end_with({.outcome = FindOutcome::occupied,
                   .slot = walk_.slot(index),
                   .entry = walk_.entry(index),
                   .header = examination.header,
                   .container = examination.container});
}

FindOperation::Next FindOperation::end_at_empty(std::uint64_t index) {
  const FindResult result{.outcome = FindOutcome::empty,
                          .slot = walk_.slot(index),
                          .entry = walk_.entry(index),
                          .is_in_later_table = !walk_.is_in_first_segment()};
  return walk_.is_home(index) ? end_with(result) : end_at(index, result);
}

FindOperation::Next FindOperation::end_of_table() {
  const std::uint64_t last = walk_.chunk_entries() - 1;
  if (!walk_.look_for_next_table()) return end_with({.outcome = FindOutcome::disconnected});
  if (walk_.has_next_table()) return go_on_behind(last);
  operation_.count(probes::walk_covered_table);
  const Next next = end_at(last, {.outcome = FindOutcome::table_walked});
  if (next == Next::end) {
    result_.met_deleted = walk_.has_deleted();
    // Another operation may have learned of the next table meanwhile.
    const Geometry& geometry = operation_.geometry();
    result_.may_grow = geometry.table_of(walk_.slot(last)) + 1 < geometry.most_tables;
  }
  return next;
}

// No valid container up to this entry has the key.
FindOperation::Next FindOperation::end_at(std::uint64_t index, const FindResult& result) {
  const bool validates = operation_.safeguards().double_collect;
  switch (validates ? walk_.validate(index) : Walk::Validation::unchanged) {
    case Walk::Validation::unchanged: return end_with(damaged_.value_or(result));
    case Walk::Validation::disconnected: return end_with({.outcome = FindOutcome::disconnected});
    case Walk::Validation::too_long: return end_with({.outcome = FindOutcome::timed_out});
    case Walk::Validation::cleaning: met_lock_ = true; break;
    case Walk::Validation::changed: break;
  }
  met_change_ = true;
  operation_.count(probes::restart_at_changed_walk);
  if (!walk_.is_in_first_segment()) operation_.count(probes::change_in_walk_over_tables);
  return Next::restart;
}

// The container of a deleted entry has no value to lose, regardless of its key.
FindOperation::Next FindOperation::unreadable(std::uint64_t index) {
  const std::uint64_t slot = walk_.slot(index);
  const Entry entry = walk_.entry(index);
  if (!operation_.note_bad_checksum(slot, entry)) return Next::restart;
  if (!damaged_ && !entry.is_deleted()) {
    damaged_ = FindResult{.outcome = FindOutcome::corrupted, .slot = slot, .entry = entry};
  }
  return Next::go_on;
}

}  // namespace

FindResult find(PendingOperation& operation, const HashedKey& key) {
  operation.spend(fabric::Work::hash, key.bytes.size());
  // comparing words costs nothing, but only keys terminate behind a hot key
  Walk::By by = Walk::By::words;
  for (std::uint32_t locks_met = 0; !operation.is_overdue();) {
    FindOperation search(operation, key, by);
    try {
      if (const FindResult* const result = search.run()) return *result;
    } catch (const std::bad_alloc&) {  // a chain may have as many words as the table
      operation.buffers().note_lack_of_memory();
      return {.outcome = FindOutcome::out_of_memory};
    }
    operation.restart();
    if (search.met_change()) by = Walk::By::keys;
    if (search.met_lock()) operation.wait_for_unlock(locks_met++);
  }
  return {.outcome = FindOutcome::timed_out};
}

}  // namespace falafel::engine
