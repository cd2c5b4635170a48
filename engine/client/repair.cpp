#include "engine/client/repair.h"

namespace falafel::engine {

Swap remove_damaged(PendingOperation& operation, const FindResult& damaged) {
  const Geometry& geometry = operation.geometry();
  const Entry keyless =
      damaged.entry.moved_to(geometry.to_units(Geometry::stand_in_offset())).with_deleted();
  auto request = operation.buffers().swap_entry(
      damaged.slot, damaged.entry,
      operation.safeguards().tag_discipline ? keyless.with_next_tag(geometry.tag_bits) : keyless);
  return operation.post_swap({&request, 1}, damaged.entry);
}

}  // namespace falafel::engine
