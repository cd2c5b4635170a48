// One run of the scenario: its nodes, and the clients on them.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "checkers/specifications/attempted_map.h"
#include "explorer/check/history.h"
#include "explorer/check/workload.h"
#include "explorer/check/world.h"
#include "stores/nessie/client.h"
#include "stores/nessie/invariants.h"
#include "stores/nessie/node.h"
#include "tools/scenarios/nessie/conditions.h"
#include "tools/scenarios/nessie/drawn_store.h"
#include "tools/scenarios/nessie/kind.h"

namespace falafel::nessie_scenario {

using checkers::specifications::AttemptedMap;

inline constexpr std::uint64_t most_keys = 6;
inline constexpr std::uint64_t step_duration_ns = 100;
inline constexpr std::uint64_t longest_stall_ns = 200'000;
inline constexpr std::uint64_t clock_offset_ns = 500;
inline constexpr std::uint64_t wild_clock_offset_ns = 100'000;
inline constexpr std::uint64_t clock_drift_ppm = 100;

class Run {
 public:
  // All of them outlive the run.
  Run(check::World& world, const check::Plan<AttemptedMap>& plan, const Kind& kind);
  void execute();

 private:
  // The state that a node shares with its clients, and with the checks when it is gone.
  struct Place {
    std::unique_ptr<nessie::Node> node;
    std::optional<nessie::NodeInspection> inspection;
    std::unique_ptr<fabric::Event> is_started;
  };

  void name_memory();
  void forbid_aba();
  void choose_completion(fabric::Host& host);
  void run_peer(fabric::Host& host, std::uint32_t number);
  void serve(fabric::Host& host, std::uint32_t number);
  void run_client(fabric::Host& host, std::uint32_t node, std::uint32_t client);
  void execute(fabric::Host& host, nessie::Client& client, std::uint32_t number,
               const AttemptedMap::Operation& operation);
  // Returns whether the operation needs no repetition.
  bool attempt(nessie::Client& client, std::uint32_t number,
               const AttemptedMap::Operation& operation);
  void read_all(fabric::Host& host);
  void note(const nessie::OperationStatistics& statistics);
  void inspect();
  nessie::Remains remains() const;

  check::World& world_;
  const check::Plan<AttemptedMap>& plan_;
  Kind kind_;
  check::History<AttemptedMap>& history_;
  DrawnStore store_;
  Conditions conditions_;
  std::vector<Place> places_;
  std::uint32_t finished_ = 0;  // clients
  bool has_failures_ = false;   // some client has met a broken connection or a CAS in doubt
};

}  // namespace falafel::nessie_scenario
