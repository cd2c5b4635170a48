// Records the timeline of a run of the store: its lanes, its operations with their keys, and the
// memory of its server.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "explorer/timeline/recorder.h"
#include "tools/scenarios/store/run.h"
#include "tools/scenarios/store/timeline/memory_recorder.h"
#include "tools/scenarios/store/timeline/store_lanes.h"
#include "tools/scenarios/store/timeline/store_memory.h"

namespace falafel::store_scenario {

class StoreRecorder final : public timeline::Recorder {
 public:
  // The arguments outlive the recorder.
  StoreRecorder(Runner& runner, const Scenario& scenario);

  explorer::Run run(sim::Strategy& strategy) override;
  timeline::Timeline finish(const sim::RunResult& result) override;
  std::vector<timeline::KeyStep> find_key_steps(
      const timeline::Timeline& timeline, const std::vector<checkers::Judgement>& violations,
      const std::optional<explorer::CriticalStep>& critical) const override;

 private:
  class Listener;

  StoreRecorder(Runner& runner, const Scenario& scenario, std::unique_ptr<StoreLanes> lanes);

  void call(const checkers::Operation& operation);
  void answer(const checkers::Operation& operation, engine::Answer answer);
  void call(const checkers::KeyScan& scan);
  void answer(const checkers::KeyScan& scan, engine::Answer answer);
  void look_at_memory(std::uint64_t step, const checkers::MemoryView* memory);

  bool shows_processor(std::uint32_t lane) const override;
  void on_queue_pair_error(const sim::TraceEvent& event) override;
  void on_written(const timeline::Effect& effect) override;
  std::string describe(const sim::RunResult& result) const override;
  void on_host_died(std::uint32_t host) override;
  void note_owner(const timeline::Effect& effect);

  Runner& runner_;
  const Scenario& scenario_;
  const StoreLanes& lanes_;
  MemoryRecorder memory_;
  std::uint64_t memory_step_ = 0;           // step of the last inspection of the memory
  std::vector<std::uint32_t> connections_;  // by region: the owner
  std::uint32_t first_connection_ = 0;      // of the current run of the server
  std::vector<std::uint32_t> connection_lanes_;
};

}  // namespace falafel::store_scenario
