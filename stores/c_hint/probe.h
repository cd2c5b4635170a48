// The search for an item whose lease has ended at the front of a queue (C-Hint 3.3).
#pragma once

#include <cstdint>
#include <list>
#include <optional>

#include "stores/c_hint/replacement.h"

namespace falafel::c_hint {

// The first such item among the head of the queue and the `behind` items behind it.
inline std::optional<Item> probe(const std::list<Item>& queue, std::uint32_t behind,
                                 const LeaseEnded& has_ended) {
  std::uint32_t left = behind + 1;
  for (const Item item : queue) {
    if (left-- == 0) break;
    if (has_ended(item)) return item;
  }
  return std::nullopt;
}

}  // namespace falafel::c_hint
