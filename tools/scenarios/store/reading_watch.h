// Follows the words of the table that operations and scans read, for the checker of readings.
#pragma once

#include <cstdint>

#include "checkers/history.h"
#include "checkers/judgement.h"
#include "checkers/memory_view.h"
#include "checkers/readings.h"
#include "engine/client/results.h"
#include "fabric/fabric.h"
#include "fabric/sim/trace.h"
#include "tools/scenarios/store/scenario.h"

namespace falafel::store_scenario {

class ReadingWatch {
 public:
  // Outlives this object. Nothing is judged if safeguards are off, nor clients with batches, nor
  // searches of clients that remember locations or meet a hostile one.
  explicit ReadingWatch(const Scenario& scenario);

  // Events of the kinds request_posted and words_read. `memory`: the server's.
  void on_posted(fabric::FiberId fiber, const sim::TraceEvent& event);
  void on_words_read(const sim::TraceEvent& event, const checkers::MemoryView& memory);

  void on_operation_called(fabric::FiberId fiber, const checkers::Operation& operation);
  void on_operation_returned(fabric::FiberId fiber, engine::Answer answer, std::uint64_t step);
  void on_scan_called(fabric::FiberId fiber, std::uint32_t client);
  void on_scan_returned(fabric::FiberId fiber, engine::Answer answer, std::uint64_t step);
  void on_operation_abandoned(fabric::FiberId fiber) { readings_.on_abandoned(fiber); }

  const checkers::Judgement& judgement() const { return readings_.judgement(); }

 private:
  bool is_judged(std::uint32_t client) const;

  const Scenario& scenario_;
  const bool are_scans_judged_;
  const bool are_searches_judged_;
  checkers::Readings readings_;
};

}  // namespace falafel::store_scenario
