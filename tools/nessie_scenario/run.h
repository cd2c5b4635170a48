// One run of the scenario: its options, its nodes, and the clients on them.
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
#include "stores/nessie/node.h"
#include "stores/nessie/options.h"
#include "tools/nessie_scenario/program.h"

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
  Run(check::World& world, const check::Plan<AttemptedMap>& plan, Variant variant);
  void execute();

 private:
  // What a node shares with its clients, and with the checks when it is gone.
  struct Place {
    std::unique_ptr<nessie::Node> node;
    std::optional<nessie::NodeInspection> inspection;
    std::unique_ptr<fabric::Event> is_started;
  };

  nessie::Options draw_options();
  nessie::Options draw_published();
  nessie::Options draw_hardened();
  void draw_mechanisms(nessie::Options& options);
  std::string describe_options() const;

  void run_peer(fabric::Host& host, std::uint32_t number);
  void serve(fabric::Host& host, std::uint32_t number);
  void run_client(fabric::Host& host, std::uint32_t node, std::uint32_t client);
  void execute(fabric::Host& host, nessie::Client& client, std::uint32_t number,
               const AttemptedMap::Operation& operation);
  // Whether the operation needs no repetition.
  bool attempt(nessie::Client& client, std::uint32_t number,
               const AttemptedMap::Operation& operation);
  void read_all(fabric::Host& host);
  void inspect();

  check::World& world_;
  const check::Plan<AttemptedMap>& plan_;
  Variant variant_;
  check::History<AttemptedMap>& history_;
  std::uint32_t nodes_;
  std::uint64_t most_attempts_ = 0;  // of an operation; 0: any number
  nessie::Options options_;
  std::vector<Place> places_;
  std::uint32_t finished_ = 0;  // clients
  bool has_failures_ = false;   // some client has met a broken connection or a CAS in doubt
};

}  // namespace falafel::nessie_scenario
