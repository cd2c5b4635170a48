// Lets a fiber wait for an asynchronous operation of Asio.
#pragma once

#include <boost/system/error_code.hpp>
#include <cstdint>
#include <memory>
#include <optional>

#include "fabric/realtime/clock.h"
#include "fabric/realtime/fiber_scheduler.h"

namespace falafel::fabric {

// Calls start(handler) and waits until the operation calls the handler with an error code. The
// result is empty at the deadline, or if the fiber was cancelled where it may end. The operation
// may outlive the wait, so `start` must give it shared ownership of the objects it uses. Throws
// FiberCancelled.
template <typename Start>
std::optional<boost::system::error_code> wait_for_operation(FiberScheduler& scheduler,
                                                            std::uint64_t deadline_ns,
                                                            const Start& start) {
  struct Outcome {
    WaitList waiters;
    std::optional<boost::system::error_code> error;
  };
  const auto outcome = std::make_shared<Outcome>();
  start([outcome](const boost::system::error_code& error, const auto&...) {
    outcome->error = error;
    outcome->waiters.wake_all();
  });
  while (!outcome->error) {
    if (!scheduler.wait(&outcome->waiters, deadline_ns) && scheduler.gives_up(deadline_ns)) break;
  }
  return outcome->error;
}

}  // namespace falafel::fabric
