#include "explorer/exhaustive/step.h"

#include <algorithm>

namespace falafel::explorer {
namespace {

bool are_of_one_object(const sim::Touch& left, const sim::Touch& right) {
  return left.object == right.object && left.number == right.number;
}

// Whether both add to the same part of an object.
bool both_add(const sim::Touch& left, const sim::Touch& right) {
  const bool overlap =
      are_of_one_object(left, right) && left.begin < right.end && right.begin < left.end;
  return overlap && left.access == sim::Access::adds && right.access == sim::Access::adds;
}

}  // namespace

void Footprint::add(const sim::Touch& touch) {
  for (sim::Touch& known : touches_) {
    if (!are_of_one_object(known, touch)) continue;
    if (known.begin != touch.begin || known.end != touch.end) continue;
    if (known.access != touch.access) known.access = sim::Access::writes;
    return;
  }
  touches_.push_back(touch);
}

void Footprint::add(const Footprint& other) {
  for (const sim::Touch& touch : other.touches_) add(touch);
}

bool Footprint::commutes_with(const Footprint& other) const {
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

bool dependent(const Step& left, const Step& right) {
  return left.process == right.process || !left.footprint.commutes_with(right.footprint);
}

}  // namespace falafel::explorer
