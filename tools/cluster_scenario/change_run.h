// One run of the scenario whose list of servers changes: servers, clients that use it, and an
// operator who changes it and moves the keys (engine/placement). A value that hosts read and
// replace with delays stands for etcd.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "checkers/specifications/attempted_map.h"
#include "engine/client/client.h"
#include "engine/placement/change.h"
#include "engine/placement/placement.h"
#include "engine/server/server.h"
#include "explorer/check/history.h"
#include "explorer/check/workload.h"
#include "explorer/check/world.h"
#include "fabric/fabric.h"

namespace falafel::cluster_scenario {

class ChangeRun {
 public:
  using AttemptedMap = checkers::specifications::AttemptedMap;

  // Both outlive the run.
  ChangeRun(check::World& world, const check::Plan<AttemptedMap>& plan);
  void execute();

 private:
  static constexpr std::size_t server_count = 4;

  class Directory;
  class Keys;
  // What a client knows of the list.
  struct Known {
    std::shared_ptr<const engine::Placement> placement;
    std::uint64_t usable_until_ns = 0;
  };
  struct Party {
    std::array<std::unique_ptr<engine::Client>, server_count> connections;
    Known known;
  };

  void serve(fabric::Host& host);
  std::unique_ptr<engine::Client> connect(fabric::Host& host, std::size_t server) const;
  std::vector<std::string> draw_servers();

  void run_operator(fabric::Host& host);
  bool change(fabric::Host& host, const std::vector<std::string>& next);

  void run_client(fabric::Host& host, std::uint32_t number);
  void wait_for_change(fabric::Host& host) const;
  void ask_for_list(fabric::Host& host, Known& known) const;
  void attempt(fabric::Host& host, Party& party, std::uint32_t number,
               const AttemptedMap::Operation& operation);
  // Waits until the list may be used for the key, or the client gives up.
  std::optional<std::size_t> server_of(fabric::Host& host, Known& known, const std::string& key);
  std::optional<std::size_t> place_of(const Known& known, const std::string& key) const;
  std::optional<AttemptedMap::Result> execute(engine::Client& client, const std::string& key,
                                              const AttemptedMap::Operation& operation);

  check::World& world_;
  const check::Plan<AttemptedMap>& plan_;
  check::History<AttemptedMap>& history_;
  const bool heeds_lease_;
  const bool heeds_announcement_;
  const bool waits_;
  check::Condition& finds_moved_;
  check::Condition& meets_moving_;
  check::Condition& repeats_;
  engine::ServerOptions server_options_;
  engine::PlacementTimes times_;
  std::vector<std::vector<std::string>> changes_;
  std::uint32_t servers_up_ = 0;
  engine::PlacementDirectory::Entry entry_;  // in etcd
  std::uint64_t steps_ = 0;                  // of the operator
  bool is_changed_ = false;                  // all changes are over
  std::uint64_t moved_ = 0;
};

}  // namespace falafel::cluster_scenario
