// The order of the tags of each slot. Tags make every word of a slot new, and tell the key scan and
// those who remember an entry how often it has changed (docs/protocol.md, "Tags"):
//
// - A change that only sets a flag of an entry keeps its tag: a lock, or a deletion.
// - Every other change advances the slot's own tag by one, also a move of an entry into the slot.
//   Freezing an empty entry is such a change.
// - Tags count modulo 2^tag_bits. The other bits of the field never change.
//
// Property: "table.tag-order".
#pragma once

#include <cstdint>

#include "checkers/judgement.h"
#include "engine/layout/entry.h"
#include "engine/layout/geometry.h"

namespace falafel::checkers {

class TagOrder {
 public:
  // The geometry outlives this object.
  explicit TagOrder(const engine::Geometry& geometry) : geometry_(geometry) {}

  // A correct party replaced the entry of a slot by another one.
  void on_changed(std::uint64_t slot, engine::Entry previous, engine::Entry next,
                  std::uint64_t step);

  // The first violation.
  const Judgement& judgement() const { return judgement_; }

 private:
  const engine::Geometry& geometry_;
  Judgement judgement_{.verdict = Verdict::holds, .property = "table.tag-order", .explanation = {}};
};

}  // namespace falafel::checkers
