// Connects the parts of a server and runs their fibers. The server and every fiber share its
// ownership, so it outlives both.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "engine/server/chunk.h"
#include "engine/server/collector.h"
#include "engine/server/container_reader.h"
#include "engine/server/end_of_operations.h"
#include "engine/server/entry_updater.h"
#include "engine/server/eviction.h"
#include "engine/server/fiber_mutex.h"
#include "engine/server/garbage_collection.h"
#include "engine/server/held_memory.h"
#include "engine/server/loopback.h"
#include "engine/server/mature_space.h"
#include "engine/server/membership.h"
#include "engine/server/memory_book.h"
#include "engine/server/memory_eviction.h"
#include "engine/server/reclamation.h"
#include "engine/server/region_grants.h"
#include "engine/server/server_inspection.h"
#include "engine/server/server_options.h"
#include "engine/server/table_maintenance.h"
#include "engine/server/value_ages.h"
#include "fabric/fabric.h"

namespace falafel::engine {

class ServerState final : public std::enable_shared_from_this<ServerState>,
                          private ClientEvents,
                          private MatureSpaceControl {
 public:
  ServerState(fabric::Host& owner, const ServerOptions& server_options);

  static constexpr std::uint32_t longest_request_bytes = 4'096;

  fabric::Result<void> start();  // waits
  void stop();
  void stop_and_wait();
  void clean_up() { maintenance_->clean_up(); }  // waits
  ServerInspection inspect() const;
  ServerBooks books() const;
  std::uint64_t denials() const;
  const Chunk& chunk() const { return chunk_; }
  bool holds(std::uint64_t offset, std::uint64_t length_bytes) const {
    return held_->holds(offset, length_bytes);
  }

 private:
  fabric::Result<void> prepare_memory();
  fabric::Result<void> recover();
  fabric::Result<void> hold_first_blocks();
  fabric::Result<void> prepare_network();
  fabric::Result<std::unique_ptr<EntryUpdater>> make_updater();
  fabric::Result<void> prepare_reader();
  std::unique_ptr<MatureSpace> make_mature_space();
  void spawn(std::string_view name, void (ServerState::*body)());

  // Main loops of fibers.
  std::unique_ptr<fabric::ConnectionRequest> next_request();
  void accept_connections();
  void receive_messages() { membership_->receive_messages(); }
  void watch_clients() { membership_->watch(); }
  void grant_regions() { grants_->run(); }
  void clean_mature_space() { mature_->run(); }
  void collect_garbage() { collection_->run(); }
  void maintain_table() { maintenance_->run(); }

  void on_joined(std::uint32_t client) override;
  void on_message(std::uint32_t client, const ControlMessage& message) override;
  void on_left(std::uint32_t client) override;
  void on_quarantined(std::uint32_t) override { collection_->on_memory_changed(); }
  void on_gone(std::uint32_t client) override;
  void on_released(std::uint32_t client, const ControlMessage& message);
  void on_heartbeat(std::uint32_t client, const ControlMessage& message);
  void on_ended(std::uint32_t client, const ControlMessage& message);
  void note_accesses(std::uint32_t client, const ControlMessage& message);

  std::vector<LiveSpace> measure_live_data() override {
    return collector_->measure_mature_spaces(moving_);
  }
  void ask_for_collection(std::uint32_t space) override { collection_->ask_for(space); }
  void on_outlook_changed() override { grants_->on_change(); }
  bool evict() override { return memory_eviction_->make_room(); }

  fabric::Host& host_;
  const ServerOptions options_;
  Chunk chunk_;
  ServerStatistics statistics_;
  std::uint64_t rebindings_ = 0;  // in the status line when the server starts
  std::unique_ptr<fabric::ProtectionDomain> domain_;
  std::unique_ptr<fabric::MemoryRegion> table_;
  std::unique_ptr<fabric::MemoryRegion> later_tables_;  // none: the table does not grow
  std::unique_ptr<fabric::MemoryRegion> whole_chunk_;   // permits the server's own READs
  std::unique_ptr<fabric::CompletionQueue> completions_;
  std::unique_ptr<fabric::Listener> listener_;
  std::optional<MemoryBook> book_;
  std::optional<HeldMemory> held_;
  std::optional<ValueAges> ages_;  // as Chunk::ages
  std::optional<Reclamation> reclamation_;
  std::optional<EndOfOperations> ends_;
  std::optional<Membership> membership_;
  std::optional<LoopbackConnector> loopback_;
  // One updater for each fiber that changes entries.
  std::unique_ptr<EntryUpdater> collector_updater_;
  std::unique_ptr<EntryUpdater> cleanup_updater_;
  std::unique_ptr<EntryUpdater> eviction_updater_;
  std::optional<Collector> collector_;
  std::optional<ContainerReader> reader_;
  std::optional<TableMaintenance> maintenance_;
  FiberMutex moving_;  // Safeguards::exclusion: held by the collection or the cleanup
  std::unique_ptr<MatureSpace> mature_;
  std::optional<Eviction> eviction_;  // none: the server does not evict
  std::optional<MemoryEviction> memory_eviction_;
  std::optional<RegionGrants> grants_;
  std::optional<GarbageCollection> collection_;
  std::vector<fabric::FiberId> fibers_;
};

}  // namespace falafel::engine
