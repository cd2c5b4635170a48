// One run of Pilaf: a server, clients that carry out their operations and then read all keys, and
// the judgement of the server's memory at the end. A server with a log may restart.
//
// Everything is small: tables of 1 to 16 entries and extents of a few blocks, so keys move, extents
// are used again at once, and the server grows several times.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "checkers/specifications/key_value_map.h"
#include "explorer/check/history.h"
#include "explorer/check/workload.h"
#include "explorer/check/world.h"
#include "stores/pilaf/client.h"
#include "stores/pilaf/server.h"
#include "tools/scenarios/pilaf/logged_history.h"
#include "tools/scenarios/pilaf/values.h"

namespace falafel::pilaf_scenario {

using Map = checkers::specifications::KeyValueMap;

inline constexpr std::array<const char*, 6> key_names{"a", "b", "c", "d", "e", "f"};

// The property of the server's memory at rest, when no request changes it.
inline constexpr std::string_view memory_property = "memory.invariants";

// No client follows a pointer to memory that is not in the extents.
inline constexpr std::string_view pointer_property = "pointers.out-of-bounds";

// A restarted server finds all records that were on the disk.
inline constexpr std::string_view log_property = "log.durable";

class PilafWorld {
 public:
  // Draws the options. `world` and `plan` outlive this object.
  PilafWorld(check::World& world, const check::Plan<Map>& plan, pilaf::GetPath gets);

  void run();

 private:
  struct Conditions;

  pilaf::Options draw_options(pilaf::GetPath gets);
  Values draw_values(pilaf::GetPath gets);
  void name_memory();
  void serve(fabric::Host& host);
  void note_start(const pilaf::ServerInspection& server);
  void work(fabric::Host& host, std::uint32_t number);
  std::unique_ptr<pilaf::Client> connect(fabric::Host& host);
  bool execute(pilaf::Client& client, std::uint32_t number, const Map::Operation& operation);
  void note(const pilaf::OperationStatistics& statistics);
  void judge_memory();

  check::World& world_;
  const check::Plan<Map>& plan_;
  check::History<Map>& history_;
  pilaf::Options options_;
  Values values_;
  std::optional<LoggedHistory> logged_history_;  // with an asynchronous log, instead of history_
  std::shared_ptr<Conditions> conditions_;
  std::optional<pilaf::ServerInspection> server_;  // when its fibers ended
};

}  // namespace falafel::pilaf_scenario
