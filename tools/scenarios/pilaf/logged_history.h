// The operations on a server with an asynchronous log, and its restarts. They are judged at the end
// of the run (logged_map.h).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

#include "checkers/specification_history.h"
#include "explorer/check/world.h"
#include "tools/scenarios/pilaf/logged_map.h"

namespace falafel::pilaf_scenario {

// Restarts lose only the last changes, and operations are linearizable between them.
inline constexpr std::string_view restarts_property = "linearizability.restarts";

class LoggedHistory {
 public:
  using Map = LoggedMap::Map;

  // Before the run. `world` outlives this object.
  explicit LoggedHistory(check::World& world);

  // `function` returns the answer, or nothing if the outcome is unknown.
  void call(std::uint32_t client, const Map::Operation& operation,
            const std::function<std::optional<Map::Result>()>& function);

  // The server begins to serve clients for the first time.
  void start();
  // A server's process has ended, and another one begins.
  void begin_restart();
  // It has these contents, and begins to serve clients.
  void complete_restart(const LoggedMap::Contents& contents);

  const checkers::SpecificationHistory<LoggedMap>& calls() const { return calls_; }

 private:
  void add(std::uint64_t call_time, std::uint64_t return_time, LoggedMap::Operation operation);

  check::World& world_;
  checkers::SpecificationHistory<LoggedMap> calls_;
  std::uint64_t start_time_ = 0;  // of the present or last life
  std::uint64_t end_time_ = 0;    // of the last life
  std::uint64_t restart_time_ = 0;
};

}  // namespace falafel::pilaf_scenario
