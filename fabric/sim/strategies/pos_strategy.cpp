#include "fabric/sim/strategies/pos_strategy.h"

#include <algorithm>

namespace falafel::sim {

namespace {

// More touches than most steps have.
constexpr std::size_t usual_touches = 16;

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
  touches_.push_back(touch);
  objects_.add(touch);
}

Touchables PosStrategy::heard_touchables() const { return all_touchables & ~without_races; }

void PosStrategy::will_touch(ActorId actor, const Touch& touch) {
  introduce(actor);
  PendingStep& pending = pending_[actor];
  if (pending.posted.size() == pending.posted.capacity()) {
    pending.posted.erase(pending.posted.begin());
  }
  pending.posted.push_back(touch);
  pending.objects.add(touch);
}

void PosStrategy::Objects::add(const Touch& touch) {
  constexpr std::uint32_t numbers_apart = 5;  // objects of one kind seldom have numbers above
  const std::uint32_t kind = static_cast<std::uint32_t>(touch.object) * numbers_apart;
  const std::uint64_t bit = std::uint64_t{1} << ((kind + touch.number) % 64);
  touched |= bit;
  if (!only_looks(touch.access)) changed |= bit;
}

void PosStrategy::end_step(std::span<const ActorId> ready) {
  if (mover_) {
    introduce(*mover_);
    for (const ActorId actor : ready) {
      introduce(actor);
      if (actor != *mover_ && races(pending_[actor])) priorities_[actor] = random_.next();
    }
    PendingStep& next = pending_[*mover_];
    priorities_[*mover_] = random_.next();
    next.touches.swap(touches_);
    next.objects = objects_;
    for (const Touch& posted : next.posted) next.objects.add(posted);
    widen_to_posted(next);
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
void PosStrategy::widen_to_posted(PendingStep& pending) {
  const auto has_begun = [&](const Touch& posted) {
    const auto begun = std::ranges::find_if(pending.touches, [&](const Touch& touch) {
      return touch.object == posted.object && touch.number == posted.number &&
             posted.begin <= touch.begin && touch.end <= posted.end;
    });
    if (begun == pending.touches.end()) return false;
    *begun = posted;
    return true;
  };
  auto& all = pending.posted;
  all.erase(std::remove_if(all.begin(), all.end(), has_begun), all.end());
}

bool PosStrategy::races(const PendingStep& pending) const {
  if (!objects_.may_meet(pending.objects)) return false;
  const auto meets = [this](const Touch& next) {
    Objects object;
    object.add(next);
    return objects_.may_meet(object) &&
           std::ranges::any_of(touches_, [&](const Touch& made) { return !commute(made, next); });
  };
  return std::ranges::any_of(pending.touches, meets) || std::ranges::any_of(pending.posted, meets);
}

}  // namespace falafel::sim
