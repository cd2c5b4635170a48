// The buffers of one pending operation, the requests that use them, and the results of those
// requests. Nothing here waits or is sent.
//
// There are buffers for the result of an atomic or one word, for two readings of entries, for the
// containers that are read ahead, for one longer container, and for the container to be written.
// A GET may add one of its caller.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "engine/client/operation_slots.h"
#include "engine/client/session.h"
#include "engine/layout/entry.h"
#include "engine/local_memory.h"
#include "fabric/fabric.h"

namespace falafel::engine {

// The part of a container that has been read, in a buffer that requests can extend.
struct LoadedContainer {
  std::uint64_t chunk_offset = 0;  // offset of the container in the server's memory
  const LocalMemory* memory = nullptr;
  std::uint64_t memory_offset = 0;
  std::uint64_t loaded_bytes = 0;

  std::span<const std::byte> bytes() const { return memory->bytes(memory_offset, loaded_bytes); }
};

class OperationBuffers {
 public:
  // `slot`: of Session::slots(). The session outlives this object.
  OperationBuffers(Session& session, std::size_t slot)
      : session_(session), slot_(session.slots()[slot]) {}

  // A cleared buffer for the requests of one round trip.
  std::vector<fabric::WorkRequest>& empty_chain() {
    own_slot().chain.clear();
    return own_slot().chain;
  }
  // Buffer for the words of a walk. It keeps its capacity between operations.
  std::vector<Entry>& walk_words() { return own_slot().walk_words; }

  // Single words. They share one buffer, so a chain has at most one of these requests.
  fabric::WorkRequest read_entry(std::uint64_t slot);
  fabric::WorkRequest swap_entry(std::uint64_t slot, Entry expected, Entry desired);
  // A word of the status line (engine/layout/status_line.h).
  fabric::WorkRequest read_status(std::uint64_t chunk_offset);
  std::uint64_t fetched_word() const;
  Entry fetched_entry() const { return Entry(fetched_word()); }

  // Entries. There are two buffers for them; the request fills one from `position` on.
  static constexpr std::uint64_t first_reading = 0;
  static constexpr std::uint64_t second_reading = 1;
  fabric::WorkRequest read_entries(std::uint64_t slot, std::uint64_t count, std::uint64_t buffer,
                                   std::uint64_t position = 0);
  std::uint64_t chunk_entries() const;
  std::uint64_t entries_per_buffer() const;
  void append_entries(std::uint64_t buffer, std::uint64_t count, std::vector<Entry>& words) const;
  bool equal_entries(std::uint64_t buffer, std::span<const Entry> expected) const;
  Entry entry(std::uint64_t buffer, std::uint64_t index) const;

  // Containers to be read.
  // From now on, containers are read into this memory of the caller if they fit: the first of
  // several that are read together, and any longer one. The last one that was read or extended
  // there is intact.
  void set_destination(LocalMemory memory) { own_slot().destination = std::move(memory); }
  // Moves a container that has been read as a whole to the destination, if there is one and it has
  // room. Returns how many bytes this copied.
  std::uint64_t move_to_destination(LoadedContainer& container, std::uint64_t length_bytes);
  bool is_in_destination(const LoadedContainer& container) const {
    return container.memory == &own_slot().destination;
  }
  // The part of an entry's container that the first READ loads: all of it if the entry bounds its
  // length, otherwise ReadaheadOptions::container_bytes. There is a buffer for several containers,
  // which must have room for this one `position` bytes behind its start.
  LoadedContainer container_of(Entry entry, std::uint64_t position) const;
  std::uint64_t container_buffer_bytes() const;
  // A buffer for a container of this length, or for as much of it as one request can read. Returns
  // nullopt if the host is out of memory.
  std::optional<LoadedContainer> container_of_length(std::uint64_t chunk_offset,
                                                     std::uint64_t length_bytes);
  // Makes room for this length of a container, of which less is loaded. Returns how much is loaded
  // afterwards, or nullopt if the host is out of memory.
  std::optional<std::uint64_t> extend(LoadedContainer& container, std::uint64_t length_bytes);
  fabric::WorkRequest read_container(const LoadedContainer& container) {
    return read_part(container, 0, container.loaded_bytes);
  }
  fabric::WorkRequest read_part(const LoadedContainer& container, std::uint64_t begin,
                                std::uint64_t length_bytes);

  // The container to be written. prepare_outgoing() returns false if the host is out of memory.
  bool prepare_outgoing(std::uint64_t length_bytes);
  std::span<std::byte> outgoing(std::uint64_t length_bytes);
  fabric::WorkRequest write_container(std::uint64_t chunk_offset, std::uint32_t remote_key,
                                      std::uint64_t length_bytes);

  // This host had no memory for some of the data.
  void note_lack_of_memory() { host_lacks_memory_ = true; }
  bool host_lacks_memory() const { return host_lacks_memory_; }

 private:
  OperationSlot& own_slot() { return slot_; }
  const OperationSlot& own_slot() const { return slot_; }
  std::uint64_t container_buffer() const;
  std::span<const std::byte> entry_bytes_of(std::uint64_t buffer, std::uint64_t length) const;
  fabric::MemoryAddress remote_entry(std::uint64_t slot) const;
  fabric::WorkRequest word_request(fabric::Opcode opcode, fabric::MemoryAddress remote);
  std::uint64_t longest_request_bytes() const;
  // The memory for a container of this length; null if the host is out of memory.
  LocalMemory* memory_for(std::uint64_t length_bytes);
  bool grow(LocalMemory& memory, std::uint64_t length_bytes);
  bool has_room_in_destination(std::uint64_t length_bytes) const {
    const LocalMemory& destination = own_slot().destination;
    return destination.block != nullptr && length_bytes <= destination.size_bytes;
  }

  Session& session_;
  OperationSlot& slot_;
  bool host_lacks_memory_ = false;
};

}  // namespace falafel::engine
