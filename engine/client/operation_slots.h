// The buffers of pending operations. A client has as many slots as operations may be in flight; an
// operation that finds none free waits.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "engine/client/client.h"
#include "engine/layout/entry.h"
#include "engine/local_memory.h"
#include "fabric/fabric.h"

namespace falafel::engine {

// The buffers of one operation at a time.
struct OperationSlot {
  LocalMemory fixed;     // results of atomics, chunks of the table, containers read ahead
  LocalMemory incoming;  // a container that is longer than the readahead; grows
  LocalMemory outgoing;  // the container to be written; grows
  std::vector<fabric::WorkRequest> chain;
  std::vector<Entry> walk_words;
  bool busy = false;
};

class OperationSlots {
 public:
  explicit OperationSlots(fabric::Host& host) : host_(host), free_(host.create_event()) {}

  // Allocates the fixed buffers of all slots, for a table of this many entries.
  fabric::Result<void> prepare(fabric::ProtectionDomain& domain, const ClientOptions& options,
                               std::uint64_t table_entries);

  bool has_free() const;
  std::size_t take();  // waits until a slot is free
  void give_back(std::size_t slot);
  OperationSlot& operator[](std::size_t slot) { return slots_[slot]; }
  const OperationSlot& operator[](std::size_t slot) const { return slots_[slot]; }

 private:
  fabric::Host& host_;
  std::unique_ptr<fabric::Event> free_;
  std::vector<OperationSlot> slots_;
};

}  // namespace falafel::engine
