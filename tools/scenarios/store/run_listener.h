// The interface of those who observe a run.
#pragma once

#include <cstdint>

#include "checkers/history.h"
#include "checkers/key_scans.h"
#include "checkers/memory_view.h"
#include "engine/client/results.h"
#include "fabric/sim/trace.h"

namespace falafel::store_scenario {

// Observes a run. The reads at the end appear as operations of an additional client.
class RunListener : public sim::TraceObserver {
 public:
  // The server's memory and bookkeeping after the steps before `step`; null: there is no server.
  // Called before the first event of each step, and at the end.
  virtual void on_memory(std::uint64_t step, const checkers::MemoryView* memory) = 0;
  virtual void on_call(const checkers::Operation& operation) = 0;
  virtual void on_return(const checkers::Operation& operation, engine::Answer answer) = 0;
  virtual void on_scan_called(const checkers::KeyScan&) {}
  virtual void on_scan_returned(const checkers::KeyScan&, engine::Answer) {}
};

struct RunOptions {
  bool paranoid = false;            // checks memory at every change of an entry
  RunListener* listener = nullptr;  // must outlive the run
};

}  // namespace falafel::store_scenario
