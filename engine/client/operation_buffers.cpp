#include "engine/client/operation_buffers.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <type_traits>
#include <utility>

#include "engine/copy_bytes.h"
#include "engine/layout/geometry.h"
#include "engine/layout/references.h"

namespace falafel::engine {

fabric::MemoryAddress OperationBuffers::remote_entry(std::uint64_t slot) const {
  const ServerMemory& server = session_.server();
  const bool is_in_first_table = slot < server.geometry.table_entries;
  return {is_in_first_table ? server.table_key : server.later_tables_key,
          server.geometry.entry_offset(slot)};
}

std::uint64_t OperationBuffers::longest_request_bytes() const {
  return session_.slots().longest_request_bytes();
}

// The layout of the fixed buffer: one word for atomics and single words, two buffers for entries,
// and the containers.
std::uint64_t OperationBuffers::container_buffer() const {
  return fabric::word_bytes + 2 * entries_per_buffer() * entry_bytes;
}

// Doubles the size, so that a client settles on the sizes it needs. Returns false if the host is
// out of memory.
bool OperationBuffers::grow(LocalMemory& memory, std::uint64_t length_bytes) {
  if (memory.size_bytes >= length_bytes) return true;
  auto grown =
      allocate_local_memory(session_.host(), session_.domain(), std::bit_ceil(length_bytes));
  if (grown) {
    memory = std::move(*grown);
  } else {
    note_lack_of_memory();
  }
  return grown.has_value();
}

// Single words

fabric::WorkRequest OperationBuffers::word_request(fabric::Opcode opcode,
                                                   fabric::MemoryAddress remote) {
  fabric::WorkRequest request;
  request.opcode = opcode;
  request.length_bytes = fabric::word_bytes;
  request.local = own_slot().fixed.at(0);
  request.remote = remote;
  return request;
}

fabric::WorkRequest OperationBuffers::read_entry(std::uint64_t slot) {
  return word_request(fabric::Opcode::read, remote_entry(slot));
}

fabric::WorkRequest OperationBuffers::swap_entry(std::uint64_t slot, Entry expected,
                                                 Entry desired) {
  auto request = word_request(fabric::Opcode::compare_and_swap, remote_entry(slot));
  request.compare = expected.word();
  request.swap_or_add = desired.word();
  return request;
}

fabric::WorkRequest OperationBuffers::read_status(std::uint64_t chunk_offset) {
  return word_request(fabric::Opcode::read, {session_.server().chunk_key, chunk_offset});
}

std::uint64_t OperationBuffers::fetched_word() const {
  std::uint64_t word = 0;
  std::memcpy(&word, own_slot().fixed.bytes(0, fabric::word_bytes).data(), fabric::word_bytes);
  return word;
}

// Entries

std::uint64_t OperationBuffers::chunk_entries() const { return session_.slots().chunk_entries(); }

std::uint64_t OperationBuffers::entries_per_buffer() const {
  return session_.slots().entries_per_buffer();
}

fabric::WorkRequest OperationBuffers::read_entries(std::uint64_t slot, std::uint64_t count,
                                                   std::uint64_t buffer, std::uint64_t position) {
  FALAFEL_ASSERT(count > 0 && position + count <= entries_per_buffer(),
                 "{} entries do not fit the buffer", position + count);
  fabric::WorkRequest request;
  request.opcode = fabric::Opcode::read;
  request.length_bytes = static_cast<std::uint32_t>(count * entry_bytes);
  request.local = own_slot().fixed.at(fabric::word_bytes +
                                      (buffer * entries_per_buffer() + position) * entry_bytes);
  request.remote = remote_entry(slot);
  return request;
}

std::span<const std::byte> OperationBuffers::entry_bytes_of(std::uint64_t buffer,
                                                            std::uint64_t length) const {
  return own_slot().fixed.bytes(fabric::word_bytes + buffer * entries_per_buffer() * entry_bytes,
                                length);
}

static_assert(std::has_unique_object_representations_v<Entry>, "entries are compared bytewise");

void OperationBuffers::append_entries(std::uint64_t buffer, std::uint64_t count,
                                      std::vector<Entry>& words) const {
  const auto bytes = entry_bytes_of(buffer, count * entry_bytes);
  const auto* const entries = reinterpret_cast<const Entry*>(bytes.data());
  words.insert(words.end(), entries, entries + count);
}

bool OperationBuffers::equal_entries(std::uint64_t buffer, std::span<const Entry> expected) const {
  const std::size_t length = expected.size_bytes();
  return std::memcmp(expected.data(), entry_bytes_of(buffer, length).data(), length) == 0;
}

Entry OperationBuffers::entry(std::uint64_t buffer, std::uint64_t index) const {
  Entry entry;
  const auto bytes = entry_bytes_of(buffer, (index + 1) * entry_bytes);
  std::memcpy(&entry, bytes.last(entry_bytes).data(), entry_bytes);
  return entry;
}

// Containers

std::uint64_t OperationBuffers::container_buffer_bytes() const {
  const ReadaheadOptions& readahead = session_.options().readahead;
  return std::uint64_t{readahead.containers} * readahead.container_bytes;
}

LoadedContainer OperationBuffers::container_of(Entry entry, std::uint64_t position) const {
  const ServerMemory& server = session_.server();
  const std::uint64_t chunk_offset = server.geometry.to_offset(entry.reference());
  const auto most_bytes = References(server.geometry).most_bytes(entry);
  const std::uint64_t wanted = most_bytes
                                   ? std::min<std::uint64_t>(*most_bytes, longest_request_bytes())
                                   : session_.options().readahead.container_bytes;
  LoadedContainer container{.chunk_offset = chunk_offset,
                            .memory = &own_slot().fixed,
                            .memory_offset = container_buffer() + position,
                            .loaded_bytes = std::min(std::min(wanted, container_buffer_bytes()),
                                                     server.chunk_bytes - chunk_offset)};
  if (position == 0 && has_room_in_destination(container.loaded_bytes)) {
    container.memory = &own_slot().destination;
    container.memory_offset = 0;
  }
  return container;
}

LocalMemory* OperationBuffers::memory_for(std::uint64_t length_bytes) {
  if (has_room_in_destination(length_bytes)) return &own_slot().destination;
  LocalMemory& incoming = own_slot().incoming;
  return grow(incoming, length_bytes) ? &incoming : nullptr;
}

std::uint64_t OperationBuffers::move_to_destination(LoadedContainer& container,
                                                    std::uint64_t length_bytes) {
  if (is_in_destination(container) || !has_room_in_destination(length_bytes)) return 0;
  LocalMemory& destination = own_slot().destination;
  copy_bytes(container.bytes().first(length_bytes), destination.bytes(0, length_bytes).data());
  container.memory = &destination;
  container.memory_offset = 0;
  container.loaded_bytes = length_bytes;
  return length_bytes;
}

std::optional<LoadedContainer> OperationBuffers::container_of_length(std::uint64_t chunk_offset,
                                                                     std::uint64_t length_bytes) {
  LoadedContainer container{.chunk_offset = chunk_offset,
                            .memory = &own_slot().fixed,
                            .memory_offset = container_buffer(),
                            .loaded_bytes = length_bytes};
  const bool is_short = length_bytes <= session_.options().readahead.container_bytes;
  if (is_short && !has_room_in_destination(length_bytes)) return container;
  LocalMemory* const memory = memory_for(length_bytes);
  if (memory == nullptr) return std::nullopt;
  container.memory = memory;
  container.memory_offset = 0;
  container.loaded_bytes = std::min<std::uint64_t>(length_bytes, longest_request_bytes());
  return container;
}

std::optional<std::uint64_t> OperationBuffers::extend(LoadedContainer& container,
                                                      std::uint64_t length_bytes) {
  const LocalMemory& incoming = own_slot().incoming;
  std::uint64_t kept = container.loaded_bytes;
  if (container.memory == &incoming && incoming.size_bytes < length_bytes) kept = 0;
  LocalMemory* const memory = memory_for(length_bytes);
  if (memory == nullptr) return std::nullopt;
  if (container.memory != memory) copy_bytes(container.bytes(), memory->bytes(0, kept).data());
  container = {.chunk_offset = container.chunk_offset,
               .memory = memory,
               .memory_offset = 0,
               .loaded_bytes = length_bytes};
  return kept;
}

fabric::WorkRequest OperationBuffers::read_part(const LoadedContainer& container,
                                                std::uint64_t begin, std::uint64_t length_bytes) {
  fabric::WorkRequest request;
  request.opcode = fabric::Opcode::read;
  request.length_bytes = static_cast<std::uint32_t>(length_bytes);
  request.local = container.memory->at(container.memory_offset + begin);
  request.remote = {session_.server().chunk_key, container.chunk_offset + begin};
  return request;
}

bool OperationBuffers::prepare_outgoing(std::uint64_t length_bytes) {
  return grow(own_slot().outgoing, length_bytes);
}

std::span<std::byte> OperationBuffers::outgoing(std::uint64_t length_bytes) {
  return own_slot().outgoing.bytes(0, length_bytes);
}

fabric::WorkRequest OperationBuffers::write_container(std::uint64_t chunk_offset,
                                                      std::uint32_t remote_key,
                                                      std::uint64_t length_bytes) {
  fabric::WorkRequest request;
  request.opcode = fabric::Opcode::write;
  request.length_bytes = static_cast<std::uint32_t>(length_bytes);
  request.local = own_slot().outgoing.at(0);
  request.remote = {remote_key, chunk_offset};
  return request;
}

}  // namespace falafel::engine
