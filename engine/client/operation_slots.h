// The buffers of pending operations. A client has as many slots as operations may be in flight; an
// operation that finds none free waits.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "engine/client/client_options.h"
#include "engine/layout/entry.h"
#include "engine/layout/geometry.h"
#include "engine/local_memory.h"
#include "fabric/fabric.h"

namespace falafel::engine {

// The buffers of one operation at a time.
struct OperationSlot {
  LocalMemory fixed;        // results of atomics, chunks of the table, containers read ahead
  LocalMemory incoming;     // a container that is longer than the readahead; grows
  LocalMemory outgoing;     // the container to be written; grows
  LocalMemory destination;  // the caller's, for the container that a GET looks for; may be none
  std::vector<fabric::WorkRequest> chain;
  std::vector<Entry> walk_words;
  bool busy = false;
};

class OperationSlots {
 public:
  explicit OperationSlots(fabric::Host& host) : host_(host), free_(host.create_event()) {}

  // Allocates the fixed buffers of all slots.
  fabric::Result<void> prepare(fabric::ProtectionDomain& domain, const ClientOptions& options,
                               const Geometry& geometry);

  // The number of entries in a chunk of the table, and in a buffer. With fingerprints, a buffer has
  // room for two chunks, because the second reading of a longer chain then takes one round trip.
  std::uint64_t chunk_entries() const { return chunk_entries_; }
  std::uint64_t entries_per_buffer() const { return entries_per_buffer_; }
  // The limit of the client's device.
  std::uint64_t longest_request_bytes() const { return longest_request_bytes_; }

  bool has_free() const;
  std::size_t take();  // waits until a slot is free
  void give_back(std::size_t slot);
  OperationSlot& operator[](std::size_t slot) { return slots_[slot]; }
  const OperationSlot& operator[](std::size_t slot) const { return slots_[slot]; }

 private:
  fabric::Host& host_;
  std::unique_ptr<fabric::Event> free_;
  std::vector<OperationSlot> slots_;
  std::uint64_t chunk_entries_ = 0;
  std::uint64_t entries_per_buffer_ = 0;
  std::uint64_t longest_request_bytes_ = 0;
};

}  // namespace falafel::engine
