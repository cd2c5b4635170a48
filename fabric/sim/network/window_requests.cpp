#include "fabric/sim/network/window_requests.h"

namespace falafel::sim {

using fabric::CompletionStatus;
using fabric::Opcode;

// A request that fails ends its queue pair, as one that the own device refuses does.
void WindowRequests::progress(Request& request) {
  const fabric::WorkRequest& work = request.work;
  FALAFEL_ASSERT(fabric::is_of_window(work.opcode), "{} {} is in the send queue",
                 to_string(work.opcode), work.id);
  const bool succeeds = work.opcode == Opcode::bind_window
                            ? bind(work)
                            : invalidate_window(connection_, work.remote.key);
  request.state = RequestState::done;
  if (succeeds) return;
  request.status = CompletionStatus::window_error;
  queue_.mark_refused(request);
}

// `compare` is the key of the window that ends. One of a queue pair has to be invalidated before.
bool WindowRequests::bind(const fabric::WorkRequest& work) const {
  World& world = connection_.world();
  if (work.compare != 0) {
    const std::uint32_t key = world.regions.key_of_remote(static_cast<std::uint32_t>(work.compare));
    world.touch(Touchable::region, key, Access::writes);
    Region& replaced = world.regions.at(key);
    if (replaced.queue_pair != 0 && !replaced.revoked) return false;
    replaced.revoked = true;
  }
  if (work.remote.key == 0) return true;
  const std::uint32_t key = world.regions.key_of_remote(work.remote.key);
  world.touch(Touchable::region, key, Access::writes);
  Region& window = world.regions.at(key);
  world.touch(Touchable::region, window.window_of, Access::reads);
  if (world.regions.at(window.window_of).revoked) return false;
  window.revoked = false;
  return true;
}

bool invalidate_window(const Connection& connection, std::uint32_t remote_key) {
  World& world = connection.world();
  const std::uint32_t key = world.regions.key_of_remote(remote_key);
  world.touch(Touchable::region, key, Access::writes);
  Region* const window = world.regions.find(key, connection.protection_domain());
  if (window == nullptr || window->queue_pair != connection.number()) return false;
  window->revoked = true;
  return true;
}

}  // namespace falafel::sim
