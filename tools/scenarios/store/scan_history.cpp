#include "tools/scenarios/store/scan_history.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "engine/layout/pinned.h"

namespace falafel::store_scenario {
namespace {

using checkers::Expiry;
using checkers::KeyScan;

// The client that stores a value and the one that scans it have clocks of their own.
std::optional<Expiry> expiry_of(const OperationTimes& times, const Scenario& scenario) {
  if (times.time_to_live_ns == 0) return std::nullopt;
  if (times.time_to_live_ns == engine::pinned_time_to_live_ns) return Expiry::pinned();
  const std::uint64_t errors_ns = 2 * scenario.wall_clock_error_ns;
  const std::uint64_t shortest_ns =
      times.time_to_live_ns - std::min(times.time_to_live_ns, errors_ns);
  const bool has_returned = times.return_ns != fabric::never_ns;
  return Expiry{.earliest_ns = times.call_ns + shortest_ns,
                .latest_ns = has_returned ? times.return_ns + times.time_to_live_ns + errors_ns
                                          : fabric::never_ns};
}

}  // namespace

checkers::Judgement check_scans(const std::deque<KeyScan>& scans,
                                std::span<const checkers::Operation> history,
                                std::span<const OperationTimes> times, const Scenario& scenario,
                                const std::function<bool(const std::string& key)>& is_damaged) {
  std::vector<checkers::Operation> operations;
  std::vector<std::optional<Expiry>> expiries;
  for (std::size_t index = 0; index < history.size() && !scans.empty(); ++index) {
    if (is_damaged(history[index].key)) continue;
    operations.push_back(history[index]);
    expiries.push_back(expiry_of(times[index], scenario));
  }
  for (KeyScan scan : scans) {
    std::erase_if(scan.visits,
                  [&](const checkers::KeyVisit& visit) { return is_damaged(visit.key); });
    checkers::Judgement judgement =
        checkers::check_key_scan(
            scan, {.operations = operations, .expiries = expiries, .evicts = scenario.evicts})
            .judgement;
    if (judgement.verdict != checkers::Verdict::holds) return judgement;
  }
  return {.verdict = checkers::Verdict::holds, .property = "scan", .explanation = {}};
}

}  // namespace falafel::store_scenario
