#include "tools/scenarios/store/server_lives.h"

#include "tools/scenarios/store/store_world.h"

namespace falafel::store_scenario {

void ServerLives::observe(const sim::TraceEvent& event) {
  const bool starts_or_dies =
      event.kind == sim::EventKind::host_started || event.kind == sim::EventKind::host_died;
  if (starts_or_dies && event.subject == StoreWorld::server_host) ++life_;
  if (event.kind == sim::EventKind::connection) on_connection(event.subject);
}

// The first step of a connection is its arrival at the server.
void ServerLives::on_connection(std::uint32_t queue_pair) {
  if (queue_pair >= life_of_connection_.size()) life_of_connection_.resize(queue_pair + 1, 0);
  std::uint64_t& life = life_of_connection_[queue_pair];
  if (life == 0) life = life_;
}

bool ServerLives::is_in_use(std::uint32_t queue_pair) const {
  return queue_pair < life_of_connection_.size() && life_of_connection_[queue_pair] == life_;
}

}  // namespace falafel::store_scenario
