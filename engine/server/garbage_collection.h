// The fiber of garbage collection: decides which memory the collector empties (collector.h), and
// frees it afterwards (reclamation.h).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "engine/server/collector.h"
#include "engine/server/fiber_mutex.h"
#include "engine/server/mature_space.h"
#include "engine/server/memory_book.h"
#include "engine/server/reclamation.h"
#include "engine/server/region_grants.h"
#include "engine/server/server_inspection.h"
#include "engine/server/server_options.h"
#include "engine/server/work_signal.h"
#include "fabric/fabric.h"

namespace falafel::engine {

class GarbageCollection {
 public:
  // `moving` is held by whoever moves entries. All arguments outlive this object.
  GarbageCollection(fabric::Host& host, const ServerOptions& options, MemoryBook& book,
                    Collector& collector, Reclamation& reclamation, RegionGrants& grants,
                    MatureSpace& mature, FiberMutex& moving, ServerStatistics& statistics);

  // The fiber's main loop.
  void run();

  // Requests the collection of a mature space. MatureSpace::on_collected() reports the end.
  void ask_for(std::uint32_t mature_space);
  // Memory was released or freed, or a client that holds some has left.
  void on_memory_changed();
  // Call when a client has become quiescent, or was removed from the reclamation.
  void free_reclaimed();
  bool is_idle() const { return !work_.is_raised(); }

 private:
  void collect_released_regions();
  std::vector<std::uint32_t> take_released_regions();
  void collect_mature_space(std::uint32_t space);
  // Waits until the updates of the collection have completed, and then frees its source.
  template <typename Free>
  void settle_and_free(const Free& free_source);
  void retire(const std::vector<CollectedMemory>& memory);
  void free(const CollectedMemory& memory);

  fabric::Host& host_;
  const Safeguards& safeguards_;
  MemoryBook& book_;
  Collector& collector_;
  Reclamation& reclamation_;
  RegionGrants& grants_;
  MatureSpace& mature_;
  FiberMutex& moving_;
  ServerStatistics& statistics_;
  WorkSignal work_;
  std::optional<std::uint32_t> asked_for_;  // the mature space to collect
};

}  // namespace falafel::engine
