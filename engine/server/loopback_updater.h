// Updates entries with the device's atomics.
//
// If the connection breaks, the updates in flight are in doubt: they may have happened, or may
// still happen. The updater then fences both ends, so that no further update takes effect, and
// reads the outcomes from the table.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>

#include "engine/local_memory.h"
#include "engine/server/chunk.h"
#include "engine/server/entry_updater.h"
#include "engine/server/loopback.h"
#include "fabric/fabric.h"

namespace falafel::engine {

class LoopbackUpdater : public EntryUpdater {
 public:
  // Connects and waits. The keys are those of the table, and of the later tables if there are any,
  // in the connector's domain.
  // `results` has one word for each update in flight.
  LoopbackUpdater(fabric::Host& host, const Chunk& chunk, LoopbackConnector& connector,
                  std::uint32_t table_key, std::uint32_t later_tables_key, LocalMemory results);

  bool is_full() const override { return outstanding_.size() + resolved_.size() >= capacity_; }
  bool has_outcomes_in_doubt() const override { return !resolved_.empty(); }
  void submit(const EntryUpdate& update) override;
  std::optional<UpdateOutcome> next() override;

 private:
  void resolve_doubt();
  void drain(LoopbackEnd& end);

  fabric::Host& host_;
  const Chunk& chunk_;
  LoopbackConnector& connector_;
  std::uint32_t table_key_;
  std::uint32_t later_tables_key_;
  LocalMemory results_;
  std::uint64_t capacity_;
  std::uint64_t submitted_ = 0;
  std::deque<EntryUpdate> outstanding_;
  std::deque<UpdateOutcome> resolved_;  // outcomes of updates that were in doubt
  LoopbackPair pair_;
  bool is_in_doubt_ = false;  // the connection is broken
};

}  // namespace falafel::engine
