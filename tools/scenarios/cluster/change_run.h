// One run of the scenario whose list of servers changes: servers, clients that use it, and two
// operators who change it and move the keys (engine/placement). They do not know of each other: one
// repeats what the other has begun, or gives it up, also while the other is still at work.
//
// Servers crash and come back empty. By the history, somebody then deleted the keys that belonged
// to them, but no others. Where restarts may be warm, a server can also come back with its memory,
// and has then lost nothing. In a cache, somebody also deletes each value that expires, at any
// time.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
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
#include "tools/scenarios/cluster/change_tools.h"
#include "tools/scenarios/cluster/lease_watch.h"
#include "tools/scenarios/cluster/lifetime_watch.h"
#include "tools/scenarios/cluster/program.h"
#include "tools/scenarios/cluster/restart_watch.h"
#include "tools/scenarios/cluster/stray_watch.h"
#include "tools/scenarios/cluster/warm_restarts.h"

namespace falafel::cluster_scenario {

class ChangeRun {
 public:
  using AttemptedMap = checkers::specifications::AttemptedMap;

  // Both outlive the run.
  ChangeRun(check::World& world, const check::Plan<AttemptedMap>& plan, const ChangingRuns& runs);
  void execute();

 private:
  static constexpr std::size_t server_count = 4;
  static constexpr std::uint32_t operator_count = 2;

  // A client's knowledge of the list.
  struct Known {
    std::shared_ptr<const engine::Placement> placement;
    std::uint64_t usable_until_ns = 0;
  };
  struct Party {
    std::array<std::unique_ptr<engine::Client>, server_count> connections;
    Known known;
  };

  // An operator's attempt to make a change. A repeated one may meet copies of keys that clients
  // have deleted since.
  struct ChangeAttempt {
    std::size_t number = 0;  // of the change
    StrayWatch strays;
    LeaseWatch lease;
    FoundContents found{};
    std::optional<RestartWatch::Attempt> restarts{};  // empty: no memory stays
  };

  void serve(fabric::Host& host, std::size_t server);
  // Returns when the process has ended in order.
  void serve_in_process(fabric::Host& host, std::size_t server);
  engine::ServerOptions options_of(const Place& place) const;
  void wait_for_end_of_process(fabric::Host& host);
  void end_process(std::size_t server);
  // The server has lost what belongs to it by the list.
  void lose_keys(std::size_t server, const engine::PlacementList& list);
  // Null if the server does not answer.
  std::unique_ptr<engine::Client> connect(fabric::Host& host, std::size_t server) const;
  std::vector<std::string> draw_servers();

  void run_operator(fabric::Host& host);
  void give_up(fabric::Host& host, std::size_t number);
  bool change(fabric::Host& host, std::size_t number, bool is_repeated);
  Directory directory_of_change(fabric::Host& host, ChangeAttempt& attempt);
  engine::ReachedKeys reach(fabric::Host& host, std::size_t server,
                            const engine::MayChange& may_change, ChangeAttempt& attempt);
  // Tells what happens while the operator uses the keys of a server.
  Keys::Options options_of_keys(fabric::Host& host, std::size_t server, ChangeAttempt& attempt);
  void settle(fabric::Host& host, std::uint64_t duration_ns, ChangeAttempt& attempt);
  // An operator is about to call the server, or to use the directory: the server, or any, may
  // crash.
  void call_misfortune(fabric::Host& host, std::size_t server);
  void call_misfortune_anywhere(fabric::Host& host);
  // A server that has just got a key crashes.
  void crash_soon(fabric::Host& host, std::size_t server);
  // A client stalls during an operation, together with the server, until a change has settled.
  void stall_soon(fabric::Host& host, std::uint32_t client, std::size_t server);
  // A server may have lost its memory since the change found it.
  void note_late_losses(const FoundContents& found);

  void run_client(fabric::Host& host, std::uint32_t number);
  bool is_changed() const { return next_change_ == changes_.size(); }
  void wait_for_end(fabric::Host& host) const;
  void wait_for_change(fabric::Host& host) const;
  void ask_for_list(fabric::Host& host, Known& known) const;
  void attempt(fabric::Host& host, Party& party, std::uint32_t number,
               const AttemptedMap::Operation& operation);
  // Waits until the list may be used for the key, or the client gives up.
  std::optional<std::size_t> server_of(fabric::Host& host, Known& known, const std::string& key);
  // Chooses the server and connects to it. Null: the client gives up.
  engine::Client* client_for(fabric::Host& host, Party& party, std::uint32_t number,
                             const std::string& key);
  std::optional<std::size_t> place_of(const Known& known, const std::string& key) const;
  std::optional<AttemptedMap::Result> execute(fabric::Host& host, engine::Client& client,
                                              const AttemptedMap::Operation& operation);
  std::optional<AttemptedMap::Result> set(fabric::Host& host, engine::Client& client,
                                          const AttemptedMap::Set& set);
  // A change is about to store a copy, and has stored it.
  void judge_copy(const Keys::Copy& copy, std::uint64_t now_ns);
  void note_copy(const Keys::Copy& copy, std::uint64_t now_ns);

  check::World& world_;
  const check::Plan<AttemptedMap>& plan_;
  check::History<AttemptedMap>& history_;
  const bool heeds_lease_;
  const bool heeds_announcement_;
  const bool waits_;
  const bool asks_for_copies_;
  const bool waits_for_end_;
  const std::uint64_t crash_percent_;  // of the copies, besides the crashes of the simulator
  const std::uint64_t stall_percent_;  // of the operations by a list that has changed
  check::Condition& finds_moved_;
  check::Condition& meets_moving_;
  check::Condition& repeats_;
  check::Condition& takes_over_;
  check::Condition& loses_keys_;
  check::Condition& breaks_copies_off_;
  check::Condition& gives_copies_up_;
  check::Condition& outlasts_settling_;
  check::Condition& hears_late_;
  engine::ServerOptions server_options_;
  engine::PlacementTimes times_;
  std::vector<std::vector<std::string>> changes_;
  std::optional<WarmRestarts> warm_restarts_;  // empty: no memory stays
  std::optional<LifetimeWatch> lifetimes_;     // empty: no value expires
  check::Condition* copies_lifetime_ = nullptr;
  check::Condition* copies_pin_ = nullptr;
  std::array<Place, server_count> places_;
  engine::PlacementDirectory::Entry entry_;  // in etcd
  std::uint64_t steps_ = 0;                  // of the operators
  std::size_t next_change_ = 0;              // those before it are made or given up
  std::uint64_t moved_ = 0;
  std::uint32_t losses_ = 0;
  std::set<std::size_t> changes_with_copies_;
};

}  // namespace falafel::cluster_scenario
