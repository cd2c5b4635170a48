// One run of C-Hint: a server with or without a backend, clients that carry out their operations
// and then read all keys, and the judgement of the server's memory at the end.
//
// Everything is small: memory for a few items, and leases of a few operations, so items are evicted
// and memory is used again while clients hold pointers to it.
//
// In some runs, two clients run on each host, and share their pointers and reports. In some, the
// server has communication threads and two shards.
//
// The wall clocks of two hosts differ by at most the error that the options assume.
//
// With a backend, what clients see is a map. Without one, or if values have a time to live, it is a
// cache: a value may vanish, but no earlier one comes back.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "checkers/specifications/cache_register.h"
#include "checkers/specifications/key_value_map.h"
#include "explorer/check/history.h"
#include "explorer/check/workload.h"
#include "explorer/check/world.h"
#include "stores/c_hint/backend.h"
#include "stores/c_hint/client.h"
#include "stores/c_hint/server.h"
#include "tools/scenarios/c_hint/lives.h"

namespace falafel::c_hint_scenario {

using Map = checkers::specifications::KeyValueMap;
using Cache = checkers::specifications::CacheRegister;

inline constexpr std::array<const char*, 5> key_names{"a", "b", "c", "d", "e"};
inline constexpr std::uint64_t longest_stall_ns = 200'000;

// The property of the server's memory at rest, when no request changes it.
inline constexpr std::string_view memory_property = "memory.invariants";

// The pact of a lease (3.2, 3.5): while it runs, the server does not use the memory for another
// item. So a client that accepts what it has READ has not read anything else, and the server has
// not reclaimed anything that a client has a lease of.
inline constexpr std::string_view pact_property = "leases.pact";

// A GET that begins when the life of a value is over does not return it. The wall clock of the
// server tells, and that of a client may be off by the error that the options assume (3.5).
inline constexpr std::string_view expiry_property = "items.expiry";

// The values of an adversary are in tools/scenarios/colliding_values.h.
enum class Values : std::uint8_t { equal_words, colliding };

class CHintWorld {
 public:
  // Draws the options. `world` and `plan` outlive this object.
  CHintWorld(check::World& world, const check::Plan<Map>& plan);

  void run();

 private:
  struct Conditions;

  c_hint::Options draw_options();
  void draw_leases(c_hint::Options& options);
  void draw_policies(c_hint::Options& options);
  void draw_shards();
  void set_clock(fabric::Host& host);
  void serve(fabric::Host& host);
  void work_on(fabric::Host& host, std::uint32_t number);
  void work(fabric::Host& host, std::uint32_t number,
            const std::shared_ptr<c_hint::NodeCache>& node);
  std::unique_ptr<c_hint::Client> connect(fabric::Host& host,
                                          const std::shared_ptr<c_hint::NodeCache>& node);
  bool execute(fabric::Host& host, c_hint::Client& client, std::uint32_t number,
               const Map::Operation& planned);
  bool keeps_pact(std::uint64_t hash, std::uint64_t offset) const;
  void judge_acceptance(const std::string& key, std::uint64_t offset);
  void judge_life(const std::string& key, const std::string& value, std::uint64_t begin_ns);
  void note_read(std::uint32_t number, const Map::Operation& operation, bool is_by_pointer);
  void judge_leases(c_hint::Client& client);
  void note(const c_hint::OperationStatistics& statistics);
  void judge_memory();

  check::World& world_;
  const check::Plan<Map>& plan_;
  Values values_ = Values::equal_words;
  c_hint::Options options_;
  std::uint64_t pause_ns_;              // between two operations of a client
  std::uint32_t clients_per_host_ = 1;  // several share their pointers
  std::optional<c_hint::MapBackend> backend_;
  std::optional<Lives> lives_;
  std::set<std::pair<std::uint32_t, std::string>> used_keys_;  // by clients that share pointers
  check::History<Map>* map_history_ = nullptr;                 // null: it is a cache
  check::History<Cache>* cache_history_ = nullptr;
  std::shared_ptr<Conditions> conditions_;
  const c_hint::Server* running_ = nullptr;
  std::uint32_t starts_ = 0;                        // of the server
  std::optional<c_hint::ServerInspection> server_;  // when its fibers ended
};

}  // namespace falafel::c_hint_scenario
