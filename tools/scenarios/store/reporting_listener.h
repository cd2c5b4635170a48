// Reports the operations of a run of the store, in words, to a listener of the explorer.
#pragma once

#include <cstdint>
#include <string>

#include "explorer/run_listener.h"
#include "tools/scenarios/store/run_listener.h"
#include "tools/scenarios/store/scenario.h"

namespace falafel::store_scenario {

class ReportingListener final : public RunListener {
 public:
  // The arguments outlive this object.
  ReportingListener(const Scenario& scenario, explorer::RunListener& listener)
      : scenario_(scenario), listener_(listener) {}

  void observe(const sim::TraceEvent& event) override { listener_.observe(event); }
  sim::EventKinds observed_kinds() const override { return listener_.observed_kinds(); }
  void introduce(const sim::Subject& subject) override { listener_.introduce(subject); }
  void observe_pause(const sim::Pause& pause) override { listener_.observe_pause(pause); }
  void on_memory(std::uint64_t, const checkers::MemoryView*) override {}
  void on_call(const checkers::Operation& operation) override;
  void on_return(const checkers::Operation& operation, engine::Answer answer) override;
  void on_scan_called(const checkers::KeyScan& scan) override;
  void on_scan_returned(const checkers::KeyScan& scan, engine::Answer answer) override;

 private:
  std::string party(std::uint32_t client) const;

  const Scenario& scenario_;
  explorer::RunListener& listener_;
};

}  // namespace falafel::store_scenario
