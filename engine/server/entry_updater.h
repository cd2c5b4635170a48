// How the server changes entries: by compare-and-swaps that are atomic with those of the clients, many
// under way at once (Behringer 4.2.4).
//
// A device's atomics need not be atomic with the processor's. Then the server goes through the device
// too, by a queue pair that is connected to itself; else the processor does it.
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
  std::uint32_t lost_before = 0;  // tries to the same end that somebody forestalled
};

struct UpdateOutcome {
  EntryUpdate update;
  bool succeeded = false;
  Entry current;  // if it failed: what is there. May be what was expected, if the connection broke
};

class EntryUpdater {
 public:
  virtual ~EntryUpdater() = default;
  virtual bool is_full() const = 0;
  // Not when full. Updates take effect in this order.
  virtual void submit(const EntryUpdate& update) = 0;
  // Waits for the oldest update that was submitted; empty if none is left.
  virtual std::optional<UpdateOutcome> next() = 0;
};

}  // namespace falafel::engine
