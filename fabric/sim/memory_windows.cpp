#include "fabric/sim/memory_windows.h"

#include <utility>

#include "fabric/sim/host/host.h"
#include "fabric/sim/network/queue_pair.h"

namespace falafel::sim {

namespace {

World& world_of(const fabric::Host& host) { return static_cast<const Host&>(host).world(); }

fabric::WorkRequest without_data(const fabric::WorkRequest& work, fabric::Opcode opcode,
                                 std::uint32_t key) {
  return {.id = work.id,
          .opcode = opcode,
          .signalled = work.signalled,
          .fenced = work.fenced,
          .remote = {.key = key}};
}

}  // namespace

std::uint32_t add_window(fabric::QueuePair& queue_pair, const WindowOptions& options) {
  const Connection& connection = actor_of(queue_pair).connection();
  World& world = connection.world();
  Region window = world.regions.at(options.region->local_key());
  window.window_of = options.region->local_key();
  window.offset = options.offset;
  window.length_bytes = options.length_bytes;
  window.access = options.access;
  window.queue_pair = options.is_of_queue_pair ? queue_pair.number() : 0;
  window.revoked = true;
  world.touch(Touchable::numbers, 0, Access::writes);
  return world.regions.remote_key(world.regions.add(std::move(window)));
}

fabric::Result<void> post_bind(fabric::QueuePair& queue_pair, const fabric::WorkRequest& work,
                               std::uint32_t key, std::uint32_t replaced) {
  fabric::WorkRequest request = without_data(work, fabric::Opcode::bind_window, key);
  request.compare = replaced;
  return actor_of(queue_pair).post_to_own_device(request);
}

fabric::Result<void> post_invalidation(fabric::QueuePair& queue_pair,
                                       const fabric::WorkRequest& work, std::uint32_t key) {
  return actor_of(queue_pair)
      .post_to_own_device(without_data(work, fabric::Opcode::invalidate_window, key));
}

void mark_invalidating(fabric::QueuePair& queue_pair, std::uint32_t key) {
  actor_of(queue_pair).mark_invalidating(key);
}

bool is_bound(const fabric::Host& host, std::uint32_t key) {
  RegionTable& regions = world_of(host).regions;
  return !regions.at(regions.key_of_remote(key)).revoked;
}

void end_window(fabric::Host& host, std::uint32_t key) {
  World& world = world_of(host);
  if (world.lifetime != nullptr) static_cast<Host&>(host).state().drain_stores();
  const std::uint32_t own_key = world.regions.key_of_remote(key);
  world.touch(Touchable::region, own_key, Access::writes);
  world.regions.at(own_key).revoked = true;
}

}  // namespace falafel::sim
