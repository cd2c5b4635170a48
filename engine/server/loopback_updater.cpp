#include "engine/server/loopback_updater.h"

#include <cstring>

#include "engine/probes.h"

namespace falafel::engine {

LoopbackUpdater::LoopbackUpdater(fabric::Host& host, const Chunk& chunk,
                                 LoopbackConnector& connector, std::uint32_t table_key,
                                 std::uint32_t later_tables_key, LocalMemory results)
    : host_(host),
      chunk_(chunk),
      connector_(connector),
      table_key_(table_key),
      later_tables_key_(later_tables_key),
      results_(std::move(results)),
      capacity_(results_.size_bytes / fabric::word_bytes),
      pair_(connector.connect()) {}

void LoopbackUpdater::submit(const EntryUpdate& update) {
  FALAFEL_ASSERT(!is_full(), "all {} updates are in flight", outstanding_.size());
  fabric::WorkRequest request;
  request.id = submitted_ % capacity_;
  request.opcode = fabric::Opcode::compare_and_swap;
  request.length_bytes = fabric::word_bytes;
  request.local = results_.at(request.id * fabric::word_bytes);
  const bool is_in_first_table = update.slot < chunk_.geometry.table_entries;
  request.remote = {is_in_first_table ? table_key_ : later_tables_key_,
                    chunk_.geometry.entry_offset(update.slot)};
  request.compare = update.expected.word();
  request.swap_or_add = update.desired.word();
  const auto posted = pair_.near.queue_pair->post_send({&request, 1});
  FALAFEL_ASSERT(posted.has_value(), "{}", posted.error().detail);
  ++submitted_;
  outstanding_.push_back(update);
}

std::optional<UpdateOutcome> LoopbackUpdater::next() {
  if (!resolved_.empty()) {
    const UpdateOutcome outcome = resolved_.front();
    resolved_.pop_front();
    return outcome;
  }
  if (is_in_doubt_) {
    resolve_doubt();
    return next();
  }
  if (outstanding_.empty()) return std::nullopt;
  fabric::WorkCompletion completion;
  while (pair_.near.completions->poll({&completion, 1}) == 0) {
    pair_.near.completions->wait(fabric::never_ns);
  }
  if (completion.status != fabric::CompletionStatus::success) {
    is_in_doubt_ = true;
    host_.count(probes::update_in_doubt);
    return next();
  }
  std::uint64_t previous = 0;
  std::memcpy(&previous,
              results_.bytes(completion.id * fabric::word_bytes, fabric::word_bytes).data(),
              sizeof previous);
  const EntryUpdate update = outstanding_.front();
  outstanding_.pop_front();
  return UpdateOutcome{.update = update,
                       .succeeded = Entry(previous) == update.expected,
                       .current = Entry(previous)};
}

// Every word that an update writes is new in its slot, because it has a new tag or a lock that only
// the server sets. If the word is present, the update has happened. If a client has changed the
// entry after the update, the result is the same as if the client had come first. If the fiber is
// cancelled here, the next one continues.
void LoopbackUpdater::resolve_doubt() {
  drain(pair_.near);
  drain(pair_.far);
  while (!outstanding_.empty()) {
    const EntryUpdate update = outstanding_.front();
    const Entry now = chunk_.load_entry(update.slot);
    resolved_.push_back({.update = update, .succeeded = now == update.desired, .current = now});
    outstanding_.pop_front();
  }
  pair_ = connector_.connect();
  is_in_doubt_ = false;
}

// Waits until the flush of a request that is posted now, or was posted earlier, has been polled.
void LoopbackUpdater::drain(LoopbackEnd& end) {
  constexpr std::uint64_t last_request = ~std::uint64_t{0};
  end.queue_pair->move_to_error();
  const fabric::ReceiveRequest receive{
      .id = last_request, .local = results_.at(0), .length_bytes = 0};
  const auto posted = end.queue_pair->post_receive({&receive, 1});
  // A request that a cancelled fiber posted serves as well.
  FALAFEL_ASSERT(posted.has_value() || posted.error().code == fabric::ErrorCode::queue_full, "{}",
                 posted.error().detail);
  fabric::WorkCompletion completion;
  do {
    while (end.completions->poll({&completion, 1}) == 0) end.completions->wait(fabric::never_ns);
  } while (completion.id != last_request);
}

}  // namespace falafel::engine
