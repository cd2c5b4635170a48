#include "engine/server/client_epochs.h"

#include <algorithm>

namespace falafel::engine {

// A new client has not begun anything yet.
void ClientEpochs::add_client(std::uint32_t client) {
  clients_[client] = {.asked = epoch_, .confirmed = epoch_};
}

void ClientEpochs::remove_client(std::uint32_t client) { clients_.erase(client); }

std::uint64_t ClientEpochs::begin() {
  ++epoch_;
  ask_all();
  return epoch_;
}

bool ClientEpochs::is_answer(std::uint32_t client, std::uint64_t epoch) const {
  const auto found = clients_.find(client);
  return found != clients_.end() && epoch == found->second.asked &&
         found->second.confirmed < found->second.asked;
}

bool ClientEpochs::is_unheard_of(std::uint32_t client, std::uint64_t epoch) const {
  const auto found = clients_.find(client);
  return found != clients_.end() && epoch > found->second.asked;
}

void ClientEpochs::confirm(std::uint32_t client, std::uint64_t epoch) {
  const auto found = clients_.find(client);
  if (found == clients_.end() || epoch > found->second.asked) return;
  found->second.confirmed = std::max(found->second.confirmed, epoch);
  ask_all();
}

bool ClientEpochs::lacks(std::uint32_t client, std::uint64_t epoch) const {
  const auto found = clients_.find(client);
  return found != clients_.end() && found->second.confirmed < epoch;
}

std::uint64_t ClientEpochs::last_confirmed() const {
  std::uint64_t confirmed = epoch_;
  for (const auto& [number, client] : clients_) {
    confirmed = std::min(confirmed, client.confirmed);
  }
  return confirmed;
}

// At most one question per client is pending, because a new one would delay the answer to the
// previous one.
void ClientEpochs::ask_all() {
  for (auto& [number, client] : clients_) {
    if (client.asked != client.confirmed || client.asked == epoch_) continue;
    client.asked = epoch_;
    membership_.ask(number, question_, {.kind = message_, .epoch = epoch_});
  }
}

}  // namespace falafel::engine
