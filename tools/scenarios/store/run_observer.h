// Feeds each event to the checkers that follow a run, and passes it on to the listener, if any.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "checkers/aba.h"
#include "checkers/ends_of_operations.h"
#include "checkers/hidden_damage.h"
#include "checkers/judgement.h"
#include "checkers/progress.h"
#include "checkers/repairs.h"
#include "checkers/tag_order.h"
#include "fabric/sim/simulation.h"
#include "fabric/sim/trace.h"
#include "tools/scenarios/store/fresh_keys.h"
#include "tools/scenarios/store/grant_watch.h"
#include "tools/scenarios/store/memory_watch.h"
#include "tools/scenarios/store/operation_watch.h"
#include "tools/scenarios/store/operation_watcher.h"
#include "tools/scenarios/store/parties.h"
#include "tools/scenarios/store/quiescence_watch.h"
#include "tools/scenarios/store/reading_watch.h"
#include "tools/scenarios/store/run_listener.h"
#include "tools/scenarios/store/scenario.h"
#include "tools/scenarios/store/server_lives.h"
#include "tools/scenarios/store/silence_watch.h"
#include "tools/scenarios/store/store_world.h"

namespace falafel::store_scenario {

class RunObserver : public sim::TraceObserver, public OperationWatcher {
 public:
  // All arguments must outlive the observer.
  RunObserver(const Scenario& scenario, StoreWorld& world, const RunOptions& options);

  void observe(const sim::TraceEvent& event) override;
  sim::EventKinds observed_kinds() const override;
  void introduce(const sim::Subject& subject) override;
  void observe_pause(const sim::Pause& pause) override;

  void on_operation_called(fabric::FiberId fiber, const checkers::Operation& operation,
                           std::uint64_t time_ns) override;
  void on_operation_returned(fabric::FiberId fiber, const checkers::Operation& operation,
                             const OperationResult& result, std::uint64_t time_ns) override;
  void on_scan_called(fabric::FiberId fiber, const checkers::KeyScan& scan,
                      std::uint64_t time_ns) override;
  void on_scan_returned(fabric::FiberId fiber, const checkers::KeyScan& scan, engine::Answer answer,
                        std::uint64_t time_ns) override;
  void on_operation_abandoned(fabric::FiberId fiber) override;
  void on_end_asked(fabric::FiberId fiber) override { ends_.on_asked(fiber); }
  void on_end_answered(fabric::FiberId fiber, bool have_ended) override;
  void on_server_started(std::uint64_t time_ns) override;
  void on_goodbye(std::uint32_t client) override;

  void show_memory(std::uint64_t step);  // to the listener, which must exist
  void on_end(const sim::RunResult& result);
  void add_violations(std::vector<checkers::Judgement>& violations) const;
  const FreshKeys& fresh_keys() const { return fresh_keys_; }

 private:
  std::optional<std::uint64_t> slot_at(std::uint64_t offset) const;
  bool is_of_server(const sim::TraceEvent& event) const;
  void on_words_read(const sim::TraceEvent& event);
  void on_words_written(const sim::TraceEvent& event);
  void on_atomic_read(const sim::TraceEvent& event);
  void on_atomic_written(const sim::TraceEvent& event);
  void note_late_swap(const sim::TraceEvent& event);
  void on_processor_read(const sim::TraceEvent& event);
  void on_processor_access(const sim::TraceEvent& event);
  void on_request_posted(const sim::TraceEvent& event);
  void on_queue_pair_error(const sim::TraceEvent& event);
  void read_entries(std::uint32_t party, std::uint64_t offset, std::span<const std::byte> data);
  void read_entry(std::uint32_t party, std::uint64_t offset, std::uint64_t word);
  // Passes on the denials of regions that the server has made since the last call.
  void note_denials(std::uint64_t time_ns);
  void swap_entry(std::uint32_t party, const sim::TraceEvent& event, std::uint64_t replaced_word);
  void judge_repair(std::uint32_t party, std::uint64_t slot, engine::Entry previous,
                    engine::Entry next, std::uint64_t step);
  // Calls look(view) if there is a server.
  template <typename Look>
  void with_memory(Look look);

  const engine::Geometry& geometry_;
  const bool keeps_memory_;
  StoreWorld& world_;
  const RunOptions& options_;
  checkers::AbaChecker aba_;
  const bool judges_tags_;
  checkers::TagOrder tags_;
  const bool judges_repairs_;
  checkers::Repairs repairs_;
  checkers::ProgressChecker progress_;
  MemoryWatch memory_;
  OperationWatch operations_;
  Parties parties_;
  ServerLives lives_;
  SilenceWatch silence_;
  GrantWatch grants_;
  QuiescenceWatch quiescence_;
  ReadingWatch readings_;
  FreshKeys fresh_keys_;
  checkers::EndsOfOperations ends_;
  checkers::HiddenDamage hidden_damage_;
  std::uint32_t newest_queue_pair_ = 0;
  std::uint64_t completed_operations_ = 0;
  std::uint64_t step_ = 0;
  std::string how_it_ended_;  // empty if all operations completed
};

}  // namespace falafel::store_scenario
