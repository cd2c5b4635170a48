// The fiber that looks after the table: from time to time it audits all entries, and cleans up if enough of
// them are deleted, or if somebody asked for it.
//
// It takes turns with the collector (Safeguards::exclusion) piece by piece, so neither waits for a walk over
// the whole table of the other.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <set>

#include "engine/server/cleanup.h"
#include "engine/server/fiber_mutex.h"
#include "engine/server/rebinding_counter.h"
#include "engine/server/table_audit.h"
#include "fabric/fabric.h"

namespace falafel::engine {

class TableMaintenance {
 public:
  // `moving`: held by who moves entries. `cleaned`: the cleanup that a client asked for is over.
  TableMaintenance(fabric::Host& host, const Chunk& chunk, const ServerOptions& options,
                   const MemoryBook& book, EntryUpdater& updater, ContainerReader& reader,
                   FiberMutex& moving, ServerStatistics& statistics,
                   std::function<void(std::uint32_t client)> cleaned);

  // The fiber.
  void run();

  // Waits for a cleanup that begins after the call.
  void clean_up();
  // The same for a client: `cleaned` answers. False if it has asked already.
  bool request_cleanup(std::uint32_t client);
  void remove_client(std::uint32_t client) { waiting_clients_.erase(client); }
  bool is_busy() const { return is_cleaning_ || is_wanted(); }

 private:
  bool wait_for_work();
  void audit();
  void clean();
  bool is_wanted() const { return served_ < asked_ || !waiting_clients_.empty(); }
  bool is_due() const;

  fabric::Host& host_;
  const Chunk& chunk_;
  const ServerOptions& options_;
  FiberMutex& moving_;
  std::function<void(std::uint32_t)> cleaned_;
  RebindingCounter rebindings_;
  TableAudit audit_;
  std::unique_ptr<Cleanup> cleanup_;
  std::unique_ptr<fabric::Event> changed_;  // a cleanup was asked for, or is over
  bool is_cleaning_ = false;
  // Calls of clean_up are numbered; a pass serves those before it.
  std::uint64_t asked_ = 0;
  std::uint64_t served_ = 0;
  std::set<std::uint32_t> waiting_clients_;
};

}  // namespace falafel::engine
