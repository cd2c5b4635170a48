// Calls whose fiber is cancelled during the call.
#pragma once

#include <memory>

#include "fabric/fabric.h"

namespace falafel::store_scenario {

// Calls `body` in a new fiber and cancels the fiber after `cancel_after_ns`. Returns false if
// `body` did not return before. If the time is 0, calls `body` directly.
template <typename Body>
bool call_unless_cancelled(fabric::Host& host, std::uint64_t cancel_after_ns, const Body& body) {
  if (cancel_after_ns == 0) {
    body();
    return true;
  }
  bool returned = false;
  const std::unique_ptr<fabric::Event> end = host.create_event();
  const fabric::FiberId fiber = host.spawn({.name = "to be cancelled"}, [&] {
    body();
    returned = true;
    end->notify_all();
  });
  const std::uint64_t deadline_ns = host.now_ns() + cancel_after_ns;
  while (!returned && end->wait(deadline_ns)) continue;
  if (!returned) host.cancel(fiber);
  host.join(fiber);
  return returned;
}

}  // namespace falafel::store_scenario
