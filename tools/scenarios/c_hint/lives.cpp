#include "tools/scenarios/c_hint/lives.h"

#include <algorithm>
#include <variant>

#include "fabric/fabric.h"

namespace falafel::c_hint_scenario {

// Values end with a digit. Half of them live forever.
std::uint64_t Lives::life_ns_of(const Map::Operation& operation) const {
  const auto* const set = std::get_if<Map::Set>(&operation);
  return set != nullptr && (set->value.back() - '0') % 2 == 1 ? life_ns_ : 0;
}

void Lives::call(const Map::Operation& operation) {
  const auto* const set = std::get_if<Map::Set>(&operation);
  if (set != nullptr && have_ends()) ++sets_[{set->key, set->value}].open;
}

void Lives::carried_out(const Map::Operation& operation, std::uint64_t now_ns) {
  const auto* const set = std::get_if<Map::Set>(&operation);
  if (set == nullptr || !have_ends()) return;
  const std::uint64_t life_ns = life_ns_of(operation);
  Sets& sets = sets_[{set->key, set->value}];
  --sets.open;
  sets.latest_end_ns =
      std::max(sets.latest_end_ns, life_ns == 0 ? fabric::never_ns : now_ns + life_ns);
}

std::optional<std::uint64_t> Lives::end_of(const std::string& key, const std::string& value) const {
  const auto found = sets_.find({key, value});
  if (found == sets_.end() || found->second.open > 0) return std::nullopt;
  const std::uint64_t end_ns = found->second.latest_end_ns;
  return end_ns == fabric::never_ns ? std::nullopt : std::optional(end_ns);
}

}  // namespace falafel::c_hint_scenario
