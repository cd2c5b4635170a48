// One run of the scenario: its servers, and the clients that spread keys over them.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "checkers/specifications/attempted_map.h"
#include "engine/client/client.h"
#include "engine/client/rendezvous_hashing.h"
#include "engine/client/results.h"
#include "engine/server/server.h"
#include "explorer/check/history.h"
#include "explorer/check/workload.h"
#include "explorer/check/world.h"
#include "fabric/fabric.h"

namespace falafel::cluster_scenario {

inline constexpr std::uint64_t server_count = 3;
inline constexpr std::uint64_t most_keys = 6;

std::string key_of(std::uint64_t number);

class Run {
 public:
  using AttemptedMap = checkers::specifications::AttemptedMap;

  // Both outlive the run.
  Run(check::World& world, const check::Plan<AttemptedMap>& plan);
  void execute();

 private:
  // A client's connections; null where the server is gone.
  using Connections = std::array<std::unique_ptr<engine::Client>, server_count>;

  struct Place {
    std::uint32_t lives = 0;
    bool is_up = false;
    // Returns whether the server is in its first life.
    bool is_intact() const { return lives == 1 && is_up; }
  };

  void serve(fabric::Host& host, Place& place);
  void run_client(fabric::Host& host, std::uint32_t number);
  Connections connect(fabric::Host& host);
  std::unique_ptr<engine::Client> connect(fabric::Host& host, std::size_t server);
  engine::RendezvousHashing hashing_of(std::uint32_t client) const;
  void attempt(const Connections& connections, const engine::RendezvousHashing& hashing,
               std::uint32_t number, const AttemptedMap::Operation& operation);
  void check_answer(std::size_t server, engine::Answer answer);

  check::World& world_;
  const check::Plan<AttemptedMap>& plan_;
  check::History<AttemptedMap>& history_;
  check::Condition& has_lost_keys_;
  const bool has_same_servers_;
  engine::ServerOptions server_options_;
  std::array<Place, server_count> places_;
  // The first answer that a server gave wrongly, if no fault excuses it.
  std::optional<std::string> unexpected_;
};

}  // namespace falafel::cluster_scenario
