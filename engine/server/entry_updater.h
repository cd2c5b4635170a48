// Changes entries on behalf of the server, with compare-and-swaps that are atomic with those of
// clients. Many may be in flight at once (Behringer 4.2.4).
//
// A device's atomics need not be atomic with the processor's. In that case, the server also uses
// the device, through a queue pair that is connected to itself; otherwise it uses the processor.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "engine/layout/entry.h"

namespace falafel::engine {

struct EntryUpdate {
  std::uint64_t slot = 0;
  Entry expected;
  Entry desired;
  // earlier attempts with the same purpose that lost to another change
  std::uint32_t lost_before = 0;
};

struct UpdateOutcome {
  EntryUpdate update;
  bool succeeded = false;
  // on failure, the present entry; may equal the expected one if the connection broke
  Entry current;
};

class EntryUpdater {
 public:
  virtual ~EntryUpdater() = default;
  virtual bool is_full() const = 0;
  // A connection broke, and next() returns outcomes of updates that were in flight then.
  virtual bool has_outcomes_in_doubt() const { return false; }
  // Requires a free place. Updates take effect in submission order.
  virtual void submit(const EntryUpdate& update) = 0;
  // Waits for the oldest submitted update; returns nullopt if none is left.
  virtual std::optional<UpdateOutcome> next() = 0;
};

}  // namespace falafel::engine
