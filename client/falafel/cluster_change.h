// Adds servers to a cluster whose list is in etcd, and removes some, while clients use it. The keys
// move (engine/placement/change.h).
#pragma once

#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "engine/placement/change.h"
#include "falafel/etcd_access.h"
#include "falafel/store.h"

namespace falafel {

struct ClusterChange {
  std::vector<std::string> etcd;  // endpoints
  std::string etcd_key = "falafel/servers";
  EtcdAccess etcd_access{};
  std::vector<std::string> servers;  // the whole list afterwards
  std::vector<std::string> lost{};   // servers that leave without their keys being asked for
  // The change may delete strays: keys at servers where the list does not have them, and nowhere
  // else. Without a list, all keys that do not belong to their server by the new list are strays.
  bool may_delete_strays = false;
  bool drops_damaged = false;      // containers that do not verify
  engine::PlacementTimes times{};  // of a list that is new; others keep theirs
  StoreOptions store{};            // how to reach each server; its `server` is ignored
};

// Waits until the keys have moved, for longer than PlacementTimes::settle_ns. Errors are
// explanations; the change can then be repeated or given up. Only one process at a time makes a
// change: one that repeats it takes it over.
tl::expected<engine::ChangeReport, std::string> change_cluster(const ClusterChange& change);

}  // namespace falafel
