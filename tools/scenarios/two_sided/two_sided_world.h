// One run of Troost's store: a server, clients that carry out their operations, read all keys and
// close their connections, and the judgement of the server's memory at the end.
//
// Everything is small: lists of a few keys in 1 to 4 buckets, so workers meet in them, and pairs
// are used again at once.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "checkers/specifications/key_value_map.h"
#include "explorer/check/history.h"
#include "explorer/check/workload.h"
#include "explorer/check/world.h"
#include "stores/two_sided/client.h"
#include "stores/two_sided/server.h"

namespace falafel::two_sided_scenario {

using Map = checkers::specifications::KeyValueMap;

// One begins with another.
inline constexpr std::array<const char*, 3> key_names{"a", "b", "ab"};

// The property of the server's memory at rest, when it serves no request.
inline constexpr std::string_view memory_property = "memory.invariants";

class TwoSidedWorld {
 public:
  // Draws the options. `world` and `plan` outlive this object.
  TwoSidedWorld(check::World& world, const check::Plan<Map>& plan, fabric::Transport transport);

  void run();

 private:
  // Conditions of unreliable transports only.
  struct Conditions {
    check::Condition* repeated = nullptr;
    check::Condition* deduplicated = nullptr;
    check::Condition* stale = nullptr;
  };

  two_sided::Options draw_options(fabric::Transport transport);
  two_sided::Waiting draw_waiting(const two_sided::Options& options);
  void serve(fabric::Host& host);
  void work(fabric::Host& host, std::uint32_t number);
  std::unique_ptr<two_sided::Client> connect(fabric::Host& host);
  bool execute(two_sided::Client& client, std::uint32_t number, const Map::Operation& operation);
  void note(const two_sided::OperationStatistics& statistics);
  void judge_memory();

  check::World& world_;
  const check::Plan<Map>& plan_;
  check::History<Map>& history_;
  two_sided::Options options_;
  Conditions conditions_;
  std::optional<two_sided::ServerInspection> server_;  // when its fibers ended
};

}  // namespace falafel::two_sided_scenario
