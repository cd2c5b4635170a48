// One run of RACE hashing: a memory node, clients that carry out their operations and then read all
// keys, and the judgement of the node's memory at the end.
//
// Everything is small: a few buckets of one to three slots, fingerprints of a few bits and few
// blocks, so keys share slots, fingerprints collide, and blocks are used again at once.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "checkers/specifications/key_value_map.h"
#include "explorer/check/history.h"
#include "explorer/check/workload.h"
#include "explorer/check/world.h"
#include "stores/race/client.h"
#include "stores/race/memory_node.h"

namespace falafel::race_scenario {

using Map = checkers::specifications::KeyValueMap;

inline constexpr std::array<const char*, 10> key_names{"a", "b", "c", "d", "e",
                                                       "f", "g", "h", "i", "j"};
// Half of the operations take one of the first keys.
inline constexpr std::uint64_t popular_keys = 3;

// The property of the node's memory at rest.
inline constexpr std::string_view memory_property = "memory.invariants";

// No client follows a slot to memory that is not in the heap.
inline constexpr std::string_view pointer_property = "pointers.out-of-bounds";

// No operation gives up on a split while its client is the only one left.
inline constexpr std::string_view busy_property = "splits.never-end";

class RaceWorld {
 public:
  // Draws the options. `world` and `plan` outlive this object.
  RaceWorld(check::World& world, const check::Plan<Map>& plan);

  void run();

 private:
  struct Conditions;

  race::Options draw_options();
  void serve(fabric::Host& host);
  void work(fabric::Host& host, std::uint32_t number);
  std::unique_ptr<race::Client> connect(fabric::Host& host);
  bool execute(race::Client& client, std::uint32_t number, const Map::Operation& operation);
  std::set<std::string> named_keys() const;  // those of all clients' operations
  void note(const race::OperationStatistics& statistics);
  void judge_memory();

  check::World& world_;
  const check::Plan<Map>& plan_;
  check::History<Map>& history_;
  race::Options options_;
  std::shared_ptr<Conditions> conditions_;
  std::uint64_t working_ = 0;                 // clients that have neither returned nor crashed
  std::optional<race::NodeInspection> node_;  // when its fibers ended
};

}  // namespace falafel::race_scenario
