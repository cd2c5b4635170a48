#include "fabric/sim/strategies/pos_strategy.h"

#include <algorithm>

namespace falafel::sim {

namespace {

// More touches than most steps have.
constexpr std::size_t usual_touches = 32;

// All steps read the world, and giving work to an actor is not a race with its pending step: they
// cannot come in the other order.
constexpr Touchables without_races = touchables(Touchable::world) | touchables(Touchable::actor) |
                                     touchables(Touchable::program_end) |
                                     touchables(Touchable::numbers);

}  // namespace

std::uint64_t PosStrategy::schedule(const ChoicePoint& /*point*/, std::span<const ActorId> actors) {
  introduce(std::ranges::max(actors));
  const auto highest =
      std::ranges::max_element(actors, {}, [this](ActorId actor) { return priorities_[actor]; });
  mover_ = *highest;
  return static_cast<std::uint64_t>(highest - actors.begin());
}

bool PosStrategy::begin_step(std::span<const ActorId> ready, std::uint64_t /*time_ns*/) {
  end_step(ready);
  // The simulator asks only if several actors can move.
  if (ready.size() == 1) mover_ = ready.front();
  return true;
}

bool PosStrategy::begin_jump() {
  end_step({});
  return true;
}

void PosStrategy::touch(const Touch& touch) {
  const NotedTouch& noted = touches_.emplace_back(touch);
  objects_.add(noted.bit, touch.access);
}

Touchables PosStrategy::heard_touchables() const { return all_touchables & ~without_races; }

void PosStrategy::will_touch(ActorId actor, const Touch& touch) {
  introduce(actor);
  PendingStep& pending = pending_[actor];
  if (pending.posted.size() == pending.posted.capacity()) {
    pending.posted.erase(pending.posted.begin());
  }
  const NotedTouch& noted = pending.posted.emplace_back(touch);
  pending.objects.add(noted.bit, touch.access);
}

void PosStrategy::end_step(std::span<const ActorId> ready) {
  if (mover_) {
    const ActorId mover = *mover_;
    introduce(mover);
    for (const ActorId actor : ready) {
      introduce(actor);
      if (actor != mover && races(pending_[actor])) priorities_[actor] = random_.next();
    }
    priorities_[mover] = random_.next();
    PendingStep& next = pending_[mover];
    next.touches.swap(touches_);
    next.objects = objects_;
    if (!next.posted.empty()) expect_posted(next);
  }
  touches_.clear();
  objects_ = {};
  mover_.reset();
}

void PosStrategy::introduce_until(ActorId last) {
  while (priorities_.size() <= last) {
    priorities_.push_back(random_.next());
    pending_.emplace_back().touches.reserve(usual_touches);
  }
}

// A request that was begun goes on within its range.
void PosStrategy::expect_posted(PendingStep& pending) {
  for (const NotedTouch& posted : pending.posted) {
    pending.objects.add(posted.bit, posted.touch.access);
  }
  const auto has_begun = [&](const NotedTouch& posted) {
    const auto begun = std::ranges::find_if(pending.touches, [&](const NotedTouch& noted) {
      const Touch& touch = noted.touch;
      return touch.object == posted.touch.object && touch.number == posted.touch.number &&
             posted.touch.begin <= touch.begin && touch.end <= posted.touch.end;
    });
    if (begun == pending.touches.end()) return false;
    *begun = posted;
    return true;
  };
  auto& all = pending.posted;
  all.erase(std::remove_if(all.begin(), all.end(), has_begun), all.end());
}

bool PosStrategy::races(const PendingStep& pending) const {
  return objects_.may_meet(pending.objects) &&
         (races_with_any(pending.touches) ||
          races_with_any({pending.posted.data(), pending.posted.size()}));
}

bool PosStrategy::races_with_any(std::span<const NotedTouch> pending) const {
  return std::ranges::any_of(pending, [this](const NotedTouch& next) {
    return objects_.may_meet(next.bit, next.touch.access) &&
           std::ranges::any_of(
               touches_, [&](const NotedTouch& made) { return !commute(made.touch, next.touch); });
  });
}

}  // namespace falafel::sim
