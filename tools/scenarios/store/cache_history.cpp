#include "tools/scenarios/store/cache_history.h"

#include <algorithm>
#include <utility>

#include "checkers/specification_linearizability.h"
#include "checkers/specifications/expiring_register.h"
#include "engine/layout/pinned.h"

namespace falafel::store_scenario {
namespace {

using Register = checkers::specifications::ExpiringRegister;
using Call = checkers::Call<Register>;

Register::Map::Operation untimed(const checkers::Operation& operation) {
  switch (operation.kind) {
    case checkers::OperationKind::get: return Register::Get{operation.key};
    case checkers::OperationKind::set: return Register::Set{operation.key, operation.value};
    default: return Register::Remove{operation.key};
  }
}

std::optional<Register::Result> result_of(const checkers::Operation& operation) {
  switch (operation.answer) {
    case checkers::Answer::found: return Register::found(operation.value);
    case checkers::Answer::deleted: return Register::removed();
    case checkers::Answer::not_found: return Register::absent();
    case checkers::Answer::stored: return Register::Result{};
    default: return std::nullopt;
  }
}

// The client that stores a value and the one that finds it expired have clocks of their own. Pinned
// values do not vanish by themselves.
Register::Lifetime lifetime_of(const OperationTimes& times, const Scenario& scenario) {
  if (times.time_to_live_ns == engine::pinned_time_to_live_ns) return {};
  if (times.time_to_live_ns == 0) {
    return {.earliest_ns = scenario.evicts ? 0 : Register::never_ns};
  }
  const std::uint64_t errors_ns = 2 * scenario.wall_clock_error_ns;
  const std::uint64_t shortest_ns =
      times.time_to_live_ns - std::min(times.time_to_live_ns, errors_ns);
  const std::uint64_t stored_ns = times.return_ns;
  return {.earliest_ns = scenario.evicts ? 0 : times.call_ns + shortest_ns,
          .latest_ns = stored_ns == fabric::never_ns
                           ? Register::never_ns
                           : stored_ns + times.time_to_live_ns + errors_ns};
}

}  // namespace

checkers::Judgement check_cache(std::span<const checkers::Operation> history,
                                std::span<const OperationTimes> times, const Scenario& scenario,
                                const std::function<bool(const std::string& key)>& is_damaged) {
  std::vector<Call> calls;
  for (std::size_t index = 0; index < history.size(); ++index) {
    const checkers::Operation& operation = history[index];
    if (is_damaged(operation.key)) continue;
    calls.push_back({.client = operation.client,
                     .operation = {.operation = untimed(operation),
                                   .call_ns = times[index].call_ns,
                                   .return_ns = times[index].return_ns,
                                   .lifetime = lifetime_of(times[index], scenario)},
                     .result = result_of(operation),
                     .is_refused = operation.answer == checkers::Answer::refused,
                     .call_time = operation.call_time,
                     .return_time = operation.return_time});
  }
  return checkers::check_linearizability<Register>(calls);
}

}  // namespace falafel::store_scenario
