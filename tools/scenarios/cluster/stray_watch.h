// Judges whether a change of a cluster may begin (engine/placement/change.h, step 0). A stray is a
// key at a server although the list has it at another one. The change will delete it, so it may be
// announced only if the change has found the key at that other server.
//
// The watch knows what the directory and the servers have answered to one attempt.
#pragma once

#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "engine/client/results.h"
#include "engine/placement/change.h"
#include "engine/placement/placement.h"

namespace falafel::cluster_scenario {

class StrayWatch {
 public:
  // `may_delete_strays`: engine::ChangeTools.
  explicit StrayWatch(bool may_delete_strays) : may_delete_strays_(may_delete_strays) {}

  // The first list is the one that the change begins with.
  void on_list_read(const engine::PlacementList& list);
  void on_listed(const std::string& server, const engine::ServerKeys::Contents& contents);
  void on_got(const std::string& server, std::span<const std::byte> key, engine::Answer answer);
  // The change replaces the list. Returns an objection if it announces that it will delete a stray
  // that it has not found at the server that has it by the list.
  std::optional<std::string> objection_to_replacement();

 private:
  using Key = std::vector<std::byte>;

  const bool may_delete_strays_;
  std::optional<engine::PlacementList> list_;
  bool is_announced_ = false;
  std::set<std::pair<std::string, Key>> listed_;
  std::set<std::pair<std::string, Key>> found_;
};

}  // namespace falafel::cluster_scenario
