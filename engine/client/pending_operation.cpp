#include "engine/client/pending_operation.h"

#include <algorithm>
#include <new>

#include "engine/layout/status_line.h"
#include "engine/probes.h"

namespace falafel::engine {

PendingOperation::PendingOperation(const OperationContext& context)
    : session_(context.session),
      gathering_(context.gathering),
      lifetime_(session_->old_operations()),
      slot_(take_slot()),
      buffers_(*session_, slot_) {
  spend(fabric::Work::operation, 0);
}

std::size_t PendingOperation::take_slot() const {
  OperationSlots& slots = session_->slots();
  if (is_apart() || slots.has_free()) return slots.take();
  const Gathering::Absence absence(gathering_);
  return slots.take();
}

PendingOperation::~PendingOperation() {
  session_->quiescence().end(slot_);
  session_->statistics() += statistics_;
  // If the fiber was cancelled during a round trip, its buffers stay with the requests in flight.
  if (!in_flight_) session_->slots().give_back(slot_);
}

Verification PendingOperation::verification() const {
  return safeguards().crc_verification ? Verification::on : Verification::off;
}

void PendingOperation::begin() {
  end_of_walk_ns_ = 0;
  session_->quiescence().begin(slot_);
}

bool PendingOperation::has_walked_too_long() {
  if (!safeguards().heartbeats) return false;
  const std::uint64_t now_ns = host().now_ns();
  if (end_of_walk_ns_ == 0) end_of_walk_ns_ = now_ns + session_->longest_walk_ns();
  return now_ns >= end_of_walk_ns_;
}

void PendingOperation::forget() { session_->quiescence().end(slot_); }

void PendingOperation::restart() {
  ++statistics_.restarts;
  if (!is_apart()) apart_.emplace(gathering_);
  if (deadline_ns_ == fabric::never_ns) {
    deadline_ns_ = host().now_ns() + session_->options().server_timeout_ns;
  }
  begin();
}

void PendingOperation::wait_for_unlock(std::uint32_t attempts) const {
  constexpr std::uint64_t shortest_ns = 2'000;
  constexpr std::uint32_t longest_doubling = 9;
  const std::uint64_t bound_ns = shortest_ns << std::min(attempts, longest_doubling);
  host().sleep_until(host().now_ns() + shortest_ns + host().random(bound_ns));
}

ChainOutcome PendingOperation::execute_chain(std::span<fabric::WorkRequest> chain) {
  spend(fabric::Work::round_trip, 0);
  in_flight_ = true;
  ChainOutcome outcome{};
  try {
    outcome = post_together_or_apart(chain);
  } catch (const std::bad_alloc&) {
    in_flight_ = false;  // nothing was sent
    throw;
  }
  in_flight_ = false;
  note_round_trip(chain);
  return outcome;
}

void PendingOperation::note_round_trip(std::span<const fabric::WorkRequest> chain) {
  statistics_.verbs += chain.size();
  for (const fabric::WorkRequest& request : chain) statistics_.bytes += request.length_bytes;
  ++statistics_.round_trips;
}

ChainOutcome PendingOperation::post_together_or_apart(std::span<fabric::WorkRequest> chain) {
  if (!is_apart()) {
    return gathering_->post_together(chain, statistics_.doorbells);
  }
  ++statistics_.doorbells;
  return session_->requester().post_and_wait(chain);
}

// A READ at once takes neither a place in the queue nor a fiber that polls.
bool PendingOperation::read(std::span<fabric::WorkRequest> chain) {
  if (chain.size() == 1 && is_apart() && session_->requester().read_at_once(chain.front())) {
    spend(fabric::Work::round_trip, 0);
    ++statistics_.doorbells;
    note_round_trip(chain);
    return true;
  }
  return execute_chain(chain) == ChainOutcome::completed;
}

Swap PendingOperation::post_swap(std::span<fabric::WorkRequest> chain, Entry expected) {
  switch (execute_chain(chain)) {
    case ChainOutcome::completed: break;
    case ChainOutcome::not_posted: return Swap::not_tried;
    case ChainOutcome::in_doubt: count(probes::outcome_unknown); return Swap::in_doubt;
  }
  if (buffers_.fetched_entry() == expected) return Swap::won;
  ++statistics_.lost_compare_and_swaps;
  count(probes::compare_and_swap_lost);
  return Swap::lost;
}

std::optional<std::uint64_t> PendingOperation::read_rebindings() {
  auto request = buffers_.read_status(rebindings_offset);
  if (!read({&request, 1})) return std::nullopt;
  return buffers_.fetched_word();
}

bool PendingOperation::read_tables() {
  auto request = buffers_.read_status(tables_offset);
  if (!read({&request, 1})) return false;
  learn_tables();
  return true;
}

void PendingOperation::learn_tables() {
  session_->learn(Tables::from_word(buffers_.fetched_word()));
}

PendingOperation::Load PendingOperation::load_through(LoadedContainer& container,
                                                      std::uint64_t length_bytes) {
  if (container.loaded_bytes >= length_bytes) return Load::done;
  const auto loaded_bytes = buffers_.extend(container, length_bytes);
  if (!loaded_bytes) return Load::out_of_memory;
  return read_rest(container, *loaded_bytes) ? Load::done : Load::disconnected;
}

// The container may be longer than one request of this device, because another client's device may
// allow larger requests.
bool PendingOperation::read_rest(const LoadedContainer& container, std::uint64_t begin) {
  const std::uint64_t longest = session_->device().attributes().max_message_bytes;
  while (begin < container.loaded_bytes) {
    const std::uint64_t length = std::min(container.loaded_bytes - begin, longest);
    auto request = buffers_.read_part(container, begin, length);
    if (!read({&request, 1})) return false;
    begin += length;
  }
  return true;
}

bool PendingOperation::note_bad_checksum(std::uint64_t slot, Entry entry) {
  const UnreadableContainer unreadable{slot, entry};
  if (unreadable_.size() == most_unreadable ||
      std::ranges::find(unreadable_, unreadable) != unreadable_.end()) {
    count(probes::container_corrupted);
    return true;
  }
  count(probes::restart_at_bad_checksum);
  unreadable_.push_back(unreadable);
  return false;
}

}  // namespace falafel::engine
