#include "engine/client/quiescence.h"

#include <algorithm>

namespace falafel::engine {

void Quiescence::begin(std::size_t slot) {
  if (slot >= began_.size()) began_.resize(slot + 1, idle);
  began_[slot] = next_stamp_++;
  on_change_();
}

void Quiescence::end(std::size_t slot) {
  if (slot >= began_.size() || began_[slot] == idle) return;
  began_[slot] = idle;
  on_change_();
}

bool Quiescence::is_quiescent_since(std::uint64_t point) const {
  return std::ranges::all_of(began_, [&](std::uint64_t began) { return began > point; });
}

}  // namespace falafel::engine
