#include "engine/client/pending_operation.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <new>
#include <type_traits>

#include "engine/copy_bytes.h"
#include "engine/layout/container.h"
#include "engine/layout/references.h"
#include "engine/layout/status_line.h"
#include "engine/probes.h"

namespace falafel::engine {

// The layout of the fixed buffer: one word for atomics and single words, two buffers for a chunk of
// the table, and the containers.
PendingOperation::PendingOperation(const OperationContext& context)
    : session_(context.session),
      gathering_(context.gathering),
      lifetime_(session_->old_operations()),
      slot_(take_slot()) {
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
  const std::uint64_t now_ns = session_->host().now_ns();
  if (end_of_walk_ns_ == 0) end_of_walk_ns_ = now_ns + session_->longest_walk_ns();
  return now_ns >= end_of_walk_ns_;
}

void PendingOperation::forget() { session_->quiescence().end(slot_); }

void PendingOperation::restart() {
  ++statistics_.restarts;
  if (!is_apart()) apart_.emplace(gathering_);
  if (deadline_ns_ == fabric::never_ns) {
    deadline_ns_ = session_->host().now_ns() + session_->options().server_timeout_ns;
  }
  begin();
}

void PendingOperation::wait_for_unlock(std::uint32_t attempts) const {
  constexpr std::uint64_t shortest_ns = 2'000;
  constexpr std::uint32_t longest_doubling = 9;
  const std::uint64_t bound_ns = shortest_ns << std::min(attempts, longest_doubling);
  fabric::Host& host = session_->host();
  host.sleep_until(host.now_ns() + shortest_ns + host.random(bound_ns));
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
  statistics_.verbs += chain.size();
  for (const fabric::WorkRequest& request : chain) statistics_.bytes += request.length_bytes;
  ++statistics_.round_trips;
  return outcome;
}

ChainOutcome PendingOperation::post_together_or_apart(std::span<fabric::WorkRequest> chain) {
  if (!is_apart()) {
    return gathering_->post_together(chain, statistics_.doorbells);
  }
  ++statistics_.doorbells;
  return session_->requester().post_and_wait(chain);
}

bool PendingOperation::read(std::span<fabric::WorkRequest> chain) {
  return execute_chain(chain) == ChainOutcome::completed;
}

Swap PendingOperation::post_swap(std::span<fabric::WorkRequest> chain, Entry expected) {
  switch (execute_chain(chain)) {
    case ChainOutcome::completed: break;
    case ChainOutcome::not_posted: return Swap::not_tried;
    case ChainOutcome::in_doubt: count(probes::outcome_unknown); return Swap::in_doubt;
  }
  if (fetched_entry() == expected) return Swap::won;
  ++statistics_.lost_compare_and_swaps;
  count(probes::compare_and_swap_lost);
  return Swap::lost;
}

std::uint64_t PendingOperation::chunk_entries() const { return session_->slots().chunk_entries(); }

std::uint64_t PendingOperation::entries_per_buffer() const {
  return session_->slots().entries_per_buffer();
}

fabric::MemoryAddress PendingOperation::remote_entry(std::uint64_t slot) const {
  const ServerMemory& server = session_->server();
  const bool is_in_first_table = slot < server.geometry.table_entries;
  return {is_in_first_table ? server.table_key : server.later_tables_key,
          server.geometry.entry_offset(slot)};
}

fabric::WorkRequest PendingOperation::read_entries(std::uint64_t slot, std::uint64_t count,
                                                   std::uint64_t buffer, std::uint64_t position) {
  FALAFEL_ASSERT(count > 0 && position + count <= entries_per_buffer(),
                 "{} entries do not fit the buffer", position + count);
  fabric::WorkRequest request;
  request.opcode = fabric::Opcode::read;
  request.length_bytes = static_cast<std::uint32_t>(count * entry_bytes);
  request.local = buffers().fixed.at(fabric::word_bytes +
                                     (buffer * entries_per_buffer() + position) * entry_bytes);
  request.remote = remote_entry(slot);
  return request;
}

std::span<const std::byte> PendingOperation::entry_bytes_of(std::uint64_t buffer,
                                                            std::uint64_t length) const {
  return buffers().fixed.bytes(fabric::word_bytes + buffer * entries_per_buffer() * entry_bytes,
                               length);
}

static_assert(std::has_unique_object_representations_v<Entry>, "entries are compared bytewise");

void PendingOperation::copy_entries(std::uint64_t buffer, std::span<Entry> destination) const {
  const std::size_t length = destination.size_bytes();
  std::memcpy(destination.data(), entry_bytes_of(buffer, length).data(), length);
}

bool PendingOperation::equal_entries(std::uint64_t buffer, std::span<const Entry> expected) const {
  const std::size_t length = expected.size_bytes();
  return std::memcmp(expected.data(), entry_bytes_of(buffer, length).data(), length) == 0;
}

Entry PendingOperation::entry(std::uint64_t buffer, std::uint64_t index) const {
  Entry entry;
  const auto bytes = entry_bytes_of(buffer, (index + 1) * entry_bytes);
  std::memcpy(&entry, bytes.last(entry_bytes).data(), entry_bytes);
  return entry;
}

fabric::WorkRequest PendingOperation::read_entry(std::uint64_t slot) {
  fabric::WorkRequest request;
  request.opcode = fabric::Opcode::read;
  request.length_bytes = fabric::word_bytes;
  request.local = buffers().fixed.at(0);
  request.remote = remote_entry(slot);
  return request;
}

std::uint64_t PendingOperation::container_buffer() const {
  return fabric::word_bytes + 2 * entries_per_buffer() * entry_bytes;
}

std::uint64_t PendingOperation::container_buffer_bytes() const {
  const ReadaheadOptions& readahead = session_->options().readahead;
  return std::uint64_t{readahead.containers} * readahead.container_bytes;
}

fabric::WorkRequest PendingOperation::read_part(const LoadedContainer& container) {
  fabric::WorkRequest request;
  request.opcode = fabric::Opcode::read;
  request.length_bytes = static_cast<std::uint32_t>(container.loaded_bytes);
  request.local = container.memory->at(container.memory_offset);
  request.remote = {session_->server().chunk_key, container.chunk_offset};
  return request;
}

LoadedContainer PendingOperation::container_of(Entry entry, std::uint64_t position) const {
  const ServerMemory& server = session_->server();
  const std::uint64_t chunk_offset = server.geometry.to_offset(entry.reference());
  const auto most_bytes = References(server.geometry).most_bytes(entry);
  const std::uint64_t wanted =
      most_bytes ? std::min<std::uint64_t>(
                       *most_bytes, session_->host().device(0).attributes().max_message_bytes)
                 : session_->options().readahead.container_bytes;
  return {.chunk_offset = chunk_offset,
          .memory = &buffers().fixed,
          .memory_offset = container_buffer() + position,
          .loaded_bytes =
              std::min({wanted, container_buffer_bytes(), server.chunk_bytes - chunk_offset})};
}

fabric::WorkRequest PendingOperation::write_container(std::uint64_t chunk_offset,
                                                      std::uint32_t remote_key,
                                                      std::uint64_t length_bytes) {
  fabric::WorkRequest request;
  request.opcode = fabric::Opcode::write;
  request.length_bytes = static_cast<std::uint32_t>(length_bytes);
  request.local = buffers().outgoing.at(0);
  request.remote = {remote_key, chunk_offset};
  return request;
}

fabric::WorkRequest PendingOperation::swap_entry(std::uint64_t slot, Entry expected,
                                                 Entry desired) {
  fabric::WorkRequest request;
  request.opcode = fabric::Opcode::compare_and_swap;
  request.length_bytes = fabric::word_bytes;
  request.local = buffers().fixed.at(0);
  request.remote = remote_entry(slot);
  request.compare = expected.word();
  request.swap_or_add = desired.word();
  return request;
}

std::uint64_t PendingOperation::fetched_word() const {
  std::uint64_t word = 0;
  std::memcpy(&word, buffers().fixed.bytes(0, fabric::word_bytes).data(), fabric::word_bytes);
  return word;
}

Entry PendingOperation::fetched_entry() const { return Entry(fetched_word()); }

std::optional<std::uint64_t> PendingOperation::read_rebindings() {
  fabric::WorkRequest request;
  request.opcode = fabric::Opcode::read;
  request.length_bytes = fabric::word_bytes;
  request.local = buffers().fixed.at(0);
  request.remote = {session_->server().chunk_key, rebindings_offset};
  if (!read({&request, 1})) return std::nullopt;
  return fetched_word();
}

fabric::WorkRequest PendingOperation::read_tables_request() {
  fabric::WorkRequest request;
  request.opcode = fabric::Opcode::read;
  request.length_bytes = fabric::word_bytes;
  request.local = buffers().fixed.at(0);
  request.remote = {session_->server().chunk_key, tables_offset};
  return request;
}

bool PendingOperation::read_tables() {
  auto request = read_tables_request();
  if (!read({&request, 1})) return false;
  learn_tables();
  return true;
}

void PendingOperation::learn_tables() { session_->learn(Tables::from_word(fetched_word())); }

// Doubles the size, so that a client settles on the sizes it needs. Returns false if the host is
// out of memory.
bool PendingOperation::grow(LocalMemory& memory, std::uint64_t length_bytes) {
  if (memory.size_bytes >= length_bytes) return true;
  auto grown =
      allocate_local_memory(session_->host(), session_->domain(), std::bit_ceil(length_bytes));
  if (grown) {
    memory = std::move(*grown);
  } else {
    note_lack_of_memory();
  }
  return grown.has_value();
}

std::optional<LoadedContainer> PendingOperation::container_of_length(std::uint64_t chunk_offset,
                                                                     std::uint64_t length_bytes) {
  LoadedContainer container{.chunk_offset = chunk_offset,
                            .memory = &buffers().fixed,
                            .memory_offset = container_buffer(),
                            .loaded_bytes = length_bytes};
  if (length_bytes <= session_->options().readahead.container_bytes) return container;
  LocalMemory& incoming = buffers().incoming;
  if (!grow(incoming, length_bytes)) return std::nullopt;
  container.memory = &incoming;
  container.memory_offset = 0;
  container.loaded_bytes = std::min<std::uint64_t>(
      length_bytes, session_->host().device(0).attributes().max_message_bytes);
  return container;
}

PendingOperation::Load PendingOperation::load_through(LoadedContainer& container,
                                                      std::uint64_t length_bytes) {
  if (container.loaded_bytes >= length_bytes) return Load::done;
  LocalMemory& incoming = buffers().incoming;
  const bool is_there_already = container.memory == &incoming;
  std::uint64_t kept = container.loaded_bytes;
  if (is_there_already && incoming.size_bytes < length_bytes) kept = 0;
  if (!grow(incoming, length_bytes)) return Load::out_of_memory;
  if (!is_there_already) {
    copy_bytes(container.bytes(), incoming.bytes(0, kept).data());
  }
  container = {.chunk_offset = container.chunk_offset,
               .memory = &incoming,
               .memory_offset = 0,
               .loaded_bytes = length_bytes};
  return read_rest(container, kept) ? Load::done : Load::disconnected;
}

// The container may be longer than one request of this device, because another client's device may
// allow larger requests.
bool PendingOperation::read_rest(const LoadedContainer& container, std::uint64_t begin) {
  const std::uint64_t longest = session_->host().device(0).attributes().max_message_bytes;
  while (begin < container.loaded_bytes) {
    const std::uint64_t length = std::min(container.loaded_bytes - begin, longest);
    fabric::WorkRequest request;
    request.opcode = fabric::Opcode::read;
    request.length_bytes = static_cast<std::uint32_t>(length);
    request.local = container.memory->at(container.memory_offset + begin);
    request.remote = {session_->server().chunk_key, container.chunk_offset + begin};
    if (!read({&request, 1})) return false;
    begin += length;
  }
  return true;
}

bool PendingOperation::prepare_outgoing(std::uint64_t length_bytes) {
  return grow(buffers().outgoing, length_bytes);
}

std::span<std::byte> PendingOperation::outgoing(std::uint64_t length_bytes) {
  return buffers().outgoing.bytes(0, length_bytes);
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
