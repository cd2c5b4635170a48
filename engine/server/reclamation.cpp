#include "engine/server/reclamation.h"

#include <algorithm>

namespace falafel::engine {

Reclamation::Reclamation(std::function<void(std::uint32_t, std::uint64_t)> ask,
                         std::function<void(const CollectedMemory&)> reclaim)
    : ask_(std::move(ask)), reclaim_(std::move(reclaim)) {}

// A new client has not read anything yet.
void Reclamation::add_client(std::uint32_t client) {
  clients_[client] = {.asked = epoch_, .quiescent = epoch_};
}

void Reclamation::remove_client(std::uint32_t client) {
  clients_.erase(client);
  reclaim_what_may_be();
}

bool Reclamation::is_answer(std::uint32_t client, std::uint64_t epoch) const {
  const auto found = clients_.find(client);
  return found != clients_.end() && epoch == found->second.asked &&
         found->second.quiescent < found->second.asked;
}

bool Reclamation::is_unheard_of(std::uint32_t client, std::uint64_t epoch) const {
  const auto found = clients_.find(client);
  return found != clients_.end() && epoch > found->second.asked;
}

void Reclamation::on_quiescent(std::uint32_t client, std::uint64_t epoch) {
  const auto found = clients_.find(client);
  if (found == clients_.end() || epoch > found->second.asked) return;  // no such request was sent
  found->second.quiescent = std::max(found->second.quiescent, epoch);
  ask_all();
  reclaim_what_may_be();
}

void Reclamation::add(const std::vector<CollectedMemory>& memory) {
  ++epoch_;
  for (const CollectedMemory& collected : memory) waiting_.push_back({epoch_, collected});
  ask_all();
  reclaim_what_may_be();
}

bool Reclamation::is_awaited(std::uint32_t client) const {
  const auto found = clients_.find(client);
  return found != clients_.end() && is_waiting() && found->second.quiescent < waiting_.back().epoch;
}

// At most one request per client is pending, because a new one would delay the answer to the
// previous one.
void Reclamation::ask_all() {
  for (auto& [number, client] : clients_) {
    if (client.asked != client.quiescent || client.asked == epoch_) continue;
    client.asked = epoch_;
    ask_(number, epoch_);
  }
}

void Reclamation::reclaim_what_may_be() {
  std::uint64_t quiescent = epoch_;
  for (const auto& [number, client] : clients_) {
    quiescent = std::min(quiescent, client.quiescent);
  }
  const auto rest = std::ranges::find_if(
      waiting_, [&](const Waiting& waiting) { return waiting.epoch > quiescent; });
  const std::vector<Waiting> reclaimed(waiting_.begin(), rest);
  waiting_.erase(waiting_.begin(), rest);
  for (const Waiting& waiting : reclaimed) reclaim_(waiting.memory);
}

}  // namespace falafel::engine
