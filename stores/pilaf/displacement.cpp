#include "stores/pilaf/displacement.h"

#include <algorithm>

namespace falafel::pilaf {
namespace {

std::optional<std::uint64_t> first_empty(const ProbeSequence& slots, const TableView& table) {
  for (std::uint64_t index = 0; index < slots.size(); ++index) {
    if (!table.is_in_use(slots[index])) return slots[index];
  }
  return std::nullopt;
}

std::vector<std::uint64_t> not_in(const DisplacementChain& chain, const ProbeSequence& slots) {
  std::vector<std::uint64_t> left;
  for (std::uint64_t index = 0; index < slots.size(); ++index) {
    if (std::ranges::find(chain, slots[index]) == chain.end()) left.push_back(slots[index]);
  }
  return left;
}

}  // namespace

std::optional<DisplacementChain> plan_insertion(
    const ProbeSequence& slots, const TableView& table, std::uint32_t max_kicks,
    const std::function<std::uint64_t(std::uint64_t)>& random) {
  DisplacementChain chain;
  ProbeSequence next = slots;
  while (true) {
    if (const auto empty = first_empty(next, table)) {
      chain.push_back(*empty);
      return chain;
    }
    if (slots.is_linear() || chain.size() >= max_kicks) return std::nullopt;
    const std::vector<std::uint64_t> left = not_in(chain, next);
    if (left.empty()) return std::nullopt;
    chain.push_back(left[random(left.size())]);
    next = table.slots_of_resident(chain.back());
  }
}

}  // namespace falafel::pilaf
