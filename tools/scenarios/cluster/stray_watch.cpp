#include "tools/scenarios/cluster/stray_watch.h"

#include <fmt/format.h>

#include "fabric/text.h"

namespace falafel::cluster_scenario {

void StrayWatch::on_list_read(const engine::PlacementList& list) {
  if (!list_) list_ = list;
}

void StrayWatch::on_listed(const std::string& server,
                           const engine::ServerKeys::Contents& contents) {
  for (const auto& [key, time_to_live_ns] : contents.keys) listed_.emplace(server, key);
}

void StrayWatch::on_got(const std::string& server, std::span<const std::byte> key,
                        engine::Answer answer) {
  if (answer == engine::Answer::found) found_.emplace(server, Key(key.begin(), key.end()));
}

// Whoever has announced a change before has searched for strays.
std::optional<std::string> StrayWatch::objection_to_replacement() {
  const bool was_announced = std::exchange(is_announced_, true);
  if (was_announced || may_delete_strays_ || !list_ || list_->is_changing()) return std::nullopt;
  const engine::Placement placement(*list_);
  for (const auto& [server, key] : listed_) {
    const std::string& owner = placement.current_server_of(key);
    if (owner == server || found_.contains({owner, key})) continue;
    return fmt::format(
        "a change begins that will delete '{}' at {}, and it was not found at {}, which has it by "
        "the list",
        fabric::text_of(key), server, owner);
  }
  return std::nullopt;
}

}  // namespace falafel::cluster_scenario
