#include "engine/server/reclamation.h"

#include <algorithm>
#include <utility>

namespace falafel::engine {

Reclamation::Reclamation(std::function<void(std::uint32_t, std::uint64_t)> ask,
                         std::function<void(const CollectedMemory&)> reclaim)
    : reclaim_(std::move(reclaim)), epochs_(std::move(ask)) {}

void Reclamation::remove_client(std::uint32_t client) {
  epochs_.remove_client(client);
  reclaim_what_may_be();
}

void Reclamation::on_quiescent(std::uint32_t client, std::uint64_t epoch) {
  epochs_.confirm(client, epoch);
  reclaim_what_may_be();
}

void Reclamation::add(const std::vector<CollectedMemory>& memory) {
  const std::uint64_t epoch = epochs_.begin();
  for (const CollectedMemory& collected : memory) waiting_.push_back({epoch, collected});
  reclaim_what_may_be();
}

bool Reclamation::is_awaited(std::uint32_t client) const {
  return is_waiting() && epochs_.lacks(client, waiting_.back().epoch);
}

void Reclamation::reclaim_what_may_be() {
  const std::uint64_t quiescent = epochs_.last_confirmed();
  const auto rest = std::ranges::find_if(
      waiting_, [&](const Waiting& waiting) { return waiting.epoch > quiescent; });
  const std::vector<Waiting> reclaimed(waiting_.begin(), rest);
  waiting_.erase(waiting_.begin(), rest);
  for (const Waiting& waiting : reclaimed) reclaim_(waiting.memory);
}

}  // namespace falafel::engine
