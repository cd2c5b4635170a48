#include "fabric/sim/run/turns.h"

#include <algorithm>

#include "fabric/sim/run/world.h"

namespace falafel::sim {

void Turns::enter(Actor& fiber) {
  if (std::ranges::find(fibers_, &fiber) != fibers_.end()) return;
  world_.touch(Touchable::turns, host_, Access::writes);
  fibers_.push_back(&fiber);
  if (fibers_.size() == 1) world_.ready.set_work(fiber, true);
}

void Turns::leave(Actor& fiber) {
  const auto found = std::ranges::find(fibers_, &fiber);
  if (found == fibers_.end()) return;
  const bool is_first = found == fibers_.begin();
  fibers_.erase(found);
  if (!is_first) return;
  world_.ready.set_work(fiber, false);
  if (!fibers_.empty()) world_.ready.set_work(*fibers_.front(), true);
}

}  // namespace falafel::sim
