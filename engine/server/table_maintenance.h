// The fiber that maintains the table. It periodically audits all entries, and cleans up if enough
// of them are deleted or if a client requested it. If the table can grow, it also does that, piece
// by piece (table_growth.h).
//
// It alternates with the collector part by part (Safeguards::exclusion), so neither waits for the
// other's walk over the whole table.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>

#include "engine/server/cleanup.h"
#include "engine/server/eviction.h"
#include "engine/server/fiber_mutex.h"
#include "engine/server/membership.h"
#include "engine/server/rebinding_counter.h"
#include "engine/server/table_audit.h"
#include "engine/server/table_growth.h"
#include "fabric/fabric.h"

namespace falafel::engine {

class TableMaintenance {
 public:
  // `moving` is held by whoever moves entries. `rebindings` is the number in the status line.
  // `membership` tells clients that a cleanup which they requested has ended. `eviction` makes room
  // before such a cleanup if there is no deleted entry; null: the server does not evict.
  TableMaintenance(fabric::Host& host, Chunk& chunk, const ServerOptions& options,
                   const MemoryBook& book, EntryUpdater& updater, ContainerReader& reader,
                   FiberMutex& moving, ServerStatistics& statistics, std::uint64_t rebindings,
                   Membership& membership, Eviction* eviction);

  // The fiber's main loop.
  void run();

  // Waits for a cleanup that begins after the call.
  void clean_up();
  // Requests it without waiting.
  void ask_for_cleanup();
  // Requests the same for a client, which is told of the end. Returns false if the client has a
  // pending request.
  bool request_cleanup(std::uint32_t client);
  void remove_client(std::uint32_t client) { waiting_clients_.erase(client); }
  // Clients need memory, so they may have inserted keys. The fiber looks whether the table has to
  // grow.
  void on_insertions();
  bool is_busy() const { return is_cleaning_ || is_wanted() || has_growth_work(); }

 private:
  bool wait_for_work();
  void audit();
  void clean();
  void clean_pass();
  bool is_full() const;
  bool has_to_grow() const;
  bool has_growth_work() const { return may_be_filled_ || (growth_ && growth_->has_work()); }
  void grow();
  void look_at_fill();
  // Returns false if the system has no memory for it.
  bool begin_growth();
  bool is_wanted() const { return served_ < asked_ || !waiting_clients_.empty(); }
  bool is_due() const;

  fabric::Host& host_;
  const Chunk& chunk_;
  const ServerOptions& options_;
  FiberMutex& moving_;
  Membership& membership_;
  Eviction* eviction_;
  RebindingCounter rebindings_;
  TableAudit audit_;
  std::unique_ptr<Cleanup> cleanup_;
  std::optional<TableGrowth> growth_;       // none: the table does not grow
  bool may_be_filled_ = false;              // clients may have inserted keys since the last look
  std::uint64_t next_audit_ns_ = 0;         // 0: not yet decided
  std::unique_ptr<fabric::Event> changed_;  // a cleanup was requested or has ended
  bool is_cleaning_ = false;
  // Calls of clean_up are numbered; a pass serves all earlier ones.
  std::uint64_t asked_ = 0;
  std::uint64_t served_ = 0;
  std::set<std::uint32_t> waiting_clients_;
};

}  // namespace falafel::engine
