#include "fabric/sim/run/services.h"

#include <algorithm>

#include "fabric/sim/run/world.h"

namespace falafel::sim {

Services::Services(World& world, std::uint32_t host)
    : world_(world), host_(host), entries_(&world.arena) {}

void Services::touch(Access access) const { world_.touch(Touchable::services, host_, access); }

void Services::add(std::uint16_t service, Listener& listener) {
  touch(Access::writes);
  entries_.push_back({service, &listener});
}

void Services::remove(const Listener& listener) {
  touch(Access::writes);
  std::erase_if(entries_, [&](const Entry& entry) { return entry.listener == &listener; });
}

Listener* Services::find(std::uint16_t service) const {
  touch(Access::reads);
  const auto found = std::ranges::find(entries_, service, &Entry::service);
  return found == entries_.end() ? nullptr : found->listener;
}

}  // namespace falafel::sim
