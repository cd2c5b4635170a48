// The checkers of the server's memory and books while clients are connected, fed with what happens there.
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
#include "tools/store_scenario/scenario.h"

namespace falafel::store_scenario {

class MemoryWatch {
 public:
  // `paranoid`: READs of containers are judged as well.
  MemoryWatch(const Scenario& scenario, bool paranoid);

  // The server dies, or starts with nothing in memory.
  void on_restart();
  // An entry is about to change. `client`: whose compare-and-swap it is, by queue pair; none: the server's.
  void on_entry_changed(std::uint64_t slot, engine::Entry next, std::optional<std::uint32_t> client,
                        const checkers::MemoryView& view, std::uint64_t step);
  // A client's WRITE.
  void on_written(std::uint32_t client, std::uint64_t offset, const checkers::MemoryView& view,
                  std::uint64_t step);
  // Between two steps.
  void on_server(const engine::Server& server, std::uint64_t step);

  // Paranoid: what operations of clients read, by the fibers that execute them.
  void on_read_posted(fabric::FiberId fiber, const sim::TraceEvent& posted);
  void on_words_read(const sim::TraceEvent& event, const checkers::MemoryView& view);
  void on_operation_called(fabric::FiberId fiber);
  void on_operation_over(fabric::FiberId fiber);

  const checkers::TableWatch& table() const { return table_; }
  void add_violations(std::vector<checkers::Judgement>& violations) const;

 private:
  void keep(checkers::Judgement judgement, std::uint64_t step);

  const engine::Geometry& geometry_;
  const bool judges_ownership_;
  const bool judges_reclamation_;
  checkers::TableWatch table_;
  checkers::RegionOwnership ownership_;
  checkers::ReclaimedMemory reclaimed_;
  checkers::Judgement first_;  // of the checkers that are functions
};

}  // namespace falafel::store_scenario
