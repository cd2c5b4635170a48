// Several servers of the store as a program for the explorer: clients spread a few keys over three
// servers by rendezvous hashing, and servers crash.
//
// Operations on each key must be linearizable, with reads of all keys at the end, and a server that
// crashes must cost its own keys only. A crashed server comes back empty; clients do not use it
// again, because the specification does not know that keys may be lost. The safeguard
// "same-servers" stands for what the operator must see to: all clients have the same list.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "explorer/check/program.h"
#include "fabric/sim/options/options.h"

namespace falafel::cluster_scenario {

// Named "cluster". `adjust` changes the drawn network; it may be empty.
std::unique_ptr<check::WorldProgram> make_program(
    std::function<void(sim::SimulationOptions&)> adjust = {});

// The share of runs in which the memory of a server may stay when its process ends.
enum class WarmRuns : std::uint8_t { none, some, only };

// The runs of a changing cluster.
struct ChangingRuns {
  WarmRuns warm = WarmRuns::none;
  bool are_caches = false;  // the servers

  friend bool operator==(const ChangingRuns&, const ChangingRuns&) = default;
};

// "changing-cluster", "changing-cluster-some-warm" or "changing-cluster-warm", of caches with
// "-cache" behind it.
std::string name_of(const ChangingRuns& runs);

// Servers join and leave while clients use them (engine/placement). No key may be lost but with the
// memory of its server, and operations on each key must be linearizable. In caches, a key may also
// vanish when its value may have expired, and no copy lives longer than its original by more than
// it took to copy it. The promise rests on safeguards.
std::unique_ptr<check::WorldProgram> make_changing_program(
    const ChangingRuns& runs = {}, std::function<void(sim::SimulationOptions&)> adjust = {});

}  // namespace falafel::cluster_scenario
