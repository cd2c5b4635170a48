#include "engine/server/reclamation.h"

#include <algorithm>

namespace falafel::engine {

void Reclamation::add(const std::vector<CollectedMemory>& memory) {
  const std::uint64_t epoch = epochs_.begin();
  for (const CollectedMemory& collected : memory) waiting_.push_back({epoch, collected});
}

bool Reclamation::is_awaited(std::uint32_t client) const {
  return is_waiting() && epochs_.lacks(client, waiting_.back().epoch);
}

std::vector<CollectedMemory> Reclamation::take_reclaimed() {
  const std::uint64_t quiescent = epochs_.last_confirmed();
  const auto rest = std::ranges::find_if(
      waiting_, [&](const Waiting& waiting) { return waiting.epoch > quiescent; });
  std::vector<CollectedMemory> reclaimed;
  for (auto waiting = waiting_.begin(); waiting != rest; ++waiting) {
    reclaimed.push_back(waiting->memory);
  }
  waiting_.erase(waiting_.begin(), rest);
  return reclaimed;
}

}  // namespace falafel::engine
