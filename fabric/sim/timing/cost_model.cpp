#include "fabric/sim/timing/cost_model.h"

#include <algorithm>

namespace falafel::sim::timing {

std::uint64_t CostModel::work_ps(fabric::Work work, std::uint64_t bytes) const {
  switch (work) {
    case fabric::Work::hash: return profile_.hash_ps + bytes * profile_.hash_ps_per_byte;
    case fabric::Work::checksum:
      return profile_.checksum_ps + bytes * profile_.checksum_ps_per_byte;
    case fabric::Work::copy: return profile_.copy_ps + bytes * profile_.copy_ps_per_byte;
  }
  FALAFEL_ASSERT(false, "unknown work {}", static_cast<int>(work));
}

Machine& CostModel::machine(std::string_view name) {
  const auto found = std::ranges::find(
      machines_, name, [](const auto& machine) -> std::string_view { return machine->name; });
  if (found != machines_.end()) return **found;
  machines_.push_back(std::make_unique<Machine>());
  machines_.back()->name = name;
  return *machines_.back();
}

}  // namespace falafel::sim::timing
