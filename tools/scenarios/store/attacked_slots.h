// Records which entries a hostile client has swapped in a run, and which keys it may have damaged.
//
// A client may swap any entry. So a hostile client can remove keys, bring old ones back, or make a
// key appear twice. No protocol in which clients change entries can prevent that. The checkers
// therefore leave out:
//
// - keys whose search passes an attacked slot, or could have passed one. Searches end at empty
//   entries or go on at the home slot in the next table, and the cleanup moves entries only within
//   a stretch of occupied ones. So these are the keys whose home slot, in any table, is in the same
//   stretch of slots that were occupied at any time of the run.
// - all keys, if the client swapped in another offset. Several entries may share a container
//   then, or containers may overlap, and a collection may lose any of them because it copies no
//   more than it frees.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/layout/entry.h"
#include "engine/layout/geometry.h"

namespace falafel::store_scenario {

class AttackedSlots {
 public:
  explicit AttackedSlots(const engine::Geometry& geometry)
      : geometry_(geometry), occupied_(geometry.slot_count()), attacked_(geometry.slot_count()) {}

  // Call for each change of an entry.
  void on_changed(std::uint64_t slot, engine::Entry previous, engine::Entry next, bool by_hostile);

  bool is_any() const { return is_any_; }
  // Returns whether the client has swapped in another offset.
  bool is_any_offset() const { return is_any_offset_; }
  bool is_attacked(std::uint64_t slot) const { return attacked_[slot]; }
  // Returns whether the client may have damaged a key with that hash.
  bool may_have_damaged(std::uint64_t hash) const;

 private:
  bool is_beside_attack(std::uint32_t table, std::uint64_t home) const;

  engine::Geometry geometry_;
  std::vector<bool> occupied_;  // at any time of the run, or attacked
  std::vector<bool> attacked_;
  bool is_any_ = false;
  bool is_any_offset_ = false;
};

}  // namespace falafel::store_scenario
