// Feeds the checkers of the server's memory and bookkeeping with the events of a run while clients
// are connected.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "checkers/judgement.h"
#include "checkers/memory_view.h"
#include "checkers/reclaimed_memory.h"
#include "checkers/region_ownership.h"
#include "checkers/table_watch.h"
#include "engine/server/server.h"
#include "fabric/fabric.h"
#include "fabric/sim/trace.h"
#include "tools/scenarios/store/scenario.h"

namespace falafel::store_scenario {

class MemoryWatch {
 public:
  // With `paranoid`, READs of containers are also checked, unless the scenario has batches.
  MemoryWatch(const Scenario& scenario, bool paranoid);

  // The server crashes, or starts with empty memory.
  void on_restart();
  // The server has started over this memory.
  void on_started(const checkers::MemoryView& view, std::uint64_t step);
  // An entry is about to change. `client` is the queue pair of the client whose compare-and-swap
  // changes it; nullopt: the server or a hostile client changes it.
  void on_entry_changed(std::uint64_t slot, engine::Entry next, std::optional<std::uint32_t> client,
                        const checkers::MemoryView& view, std::uint64_t step);
  // A hostile client is about to change an entry. From now on, entries and containers are not
  // checked.
  void on_attack();
  // A client's WRITE modified memory.
  void on_written(std::uint32_t client, std::uint64_t offset, const checkers::MemoryView& view,
                  std::uint64_t step);
  // Call between two steps.
  void on_server(const engine::Server& server, std::uint64_t step);

  // Paranoid mode: the READs of client operations, by the fiber that executes them.
  void on_read_posted(fabric::FiberId fiber, const sim::TraceEvent& posted);
  void on_words_read(const sim::TraceEvent& event, const checkers::MemoryView& view);
  // A compare-and-swap failed and returned an entry, which may lead its client to a container.
  void on_swap_failed(const sim::TraceEvent& event, const checkers::MemoryView& view);
  void on_operation_called(fabric::FiberId fiber);
  void on_operation_over(fabric::FiberId fiber);

  const checkers::TableWatch& table() const { return table_; }
  void add_violations(std::vector<checkers::Judgement>& violations) const;

 private:
  void note_entry_read(const sim::TraceEvent& event, engine::Entry entry);
  void keep(checkers::Judgement judgement, std::uint64_t step);

  const engine::Geometry& geometry_;
  const bool judges_ownership_;
  const bool judges_reclamation_;
  checkers::TableWatch table_;
  std::optional<checkers::Judgement> table_before_attack_;
  checkers::RegionOwnership ownership_;
  checkers::ReclaimedMemory reclaimed_;
  checkers::Judgement first_;  // of the checkers that are functions
};

}  // namespace falafel::store_scenario
