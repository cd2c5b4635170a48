// Eviction for a request that finds no memory: it succeeds only if a collection can then gain some.
#pragma once

#include "engine/server/eviction.h"
#include "engine/server/mature_space.h"
#include "engine/server/memory_book.h"
#include "engine/server/server_inspection.h"
#include "engine/server/server_options.h"
#include "engine/server/table_maintenance.h"

namespace falafel::engine {

class MemoryEviction {
 public:
  // All arguments outlive this object.
  MemoryEviction(const ServerOptions& options, const MemoryBook& book,
                 const ServerStatistics& statistics, Eviction& eviction,
                 TableMaintenance& maintenance, const MatureSpace& mature)
      : options_(options),
        book_(book),
        statistics_(statistics),
        eviction_(eviction),
        maintenance_(maintenance),
        mature_(mature) {}

  // As MatureSpaceControl::evict().
  bool make_room();

 private:
  const ServerOptions& options_;
  const MemoryBook& book_;
  const ServerStatistics& statistics_;
  Eviction& eviction_;
  TableMaintenance& maintenance_;
  const MatureSpace& mature_;
};

}  // namespace falafel::engine
