#include "explorer/exhaustive/step.h"

#include <algorithm>

namespace falafel::explorer {
namespace {

bool are_of_one_object(const sim::Touch& left, const sim::Touch& right) {
  return left.object == right.object && left.number == right.number;
}

bool overlap(const sim::Touch& left, const sim::Touch& right) {
  return are_of_one_object(left, right) && left.begin < right.end && right.begin < left.end;
}

// Tells if both add to the same part of an object.
bool both_add(const sim::Touch& left, const sim::Touch& right) {
  return overlap(left, right) && left.access == sim::Access::adds &&
         right.access == sim::Access::adds;
}

// The accesses of one step to one range, as one access.
sim::Access join(sim::Access left, sim::Access right) {
  if (left == right) return left;
  const bool look = sim::only_looks(left) && sim::only_looks(right);
  return look ? sim::Access::awaits : sim::Access::writes;
}

}  // namespace

void Footprint::clear() {
  touches_.clear();
  touched_ = 0;
  changed_ = 0;
}

void Footprint::add(const sim::Touch& touch) {
  const Objects object = Objects{1} << static_cast<unsigned>(touch.object);
  touched_ |= object;
  if (!sim::only_looks(touch.access)) changed_ |= object;
  for (sim::Touch& known : touches_) {
    if (!are_of_one_object(known, touch)) continue;
    if (known.begin != touch.begin || known.end != touch.end) continue;
    known.access = join(known.access, touch.access);
    if (!sim::only_looks(known.access)) changed_ |= object;
    return;
  }
  touches_.push_back(touch);
}

void Footprint::add(const Footprint& other) {
  for (const sim::Touch& touch : other.touches_) add(touch);
}

bool Footprint::commutes_with(const Footprint& other) const {
  if ((changed_ & other.touched_) == 0 && (touched_ & other.changed_) == 0) return true;
  for (const sim::Touch& left : touches_) {
    for (const sim::Touch& right : other.touches_) {
      if (!sim::commute(left, right)) return false;
    }
  }
  return true;
}

bool Footprint::adds_with(const Footprint& other) const {
  return std::ranges::any_of(touches_, [&](const sim::Touch& left) {
    return std::ranges::any_of(other.touches_,
                               [&](const sim::Touch& right) { return both_add(left, right); });
  });
}

bool Footprint::awaits(const Footprint& other) const {
  if ((touched_ & other.changed_) == 0) return false;
  return std::ranges::any_of(touches_, [&](const sim::Touch& touch) {
    return touch.access == sim::Access::awaits &&
           std::ranges::any_of(other.touches_, [&](const sim::Touch& awaited) {
             return !sim::only_looks(awaited.access) && overlap(touch, awaited);
           });
  });
}

bool dependent(const Step& left, const Step& right) {
  return left.process == right.process || !left.footprint.commutes_with(right.footprint);
}

}  // namespace falafel::explorer
