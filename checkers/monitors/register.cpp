// A register whose writes differ: the calls on one value, its write and the reads that found it,
// are consecutive in every correct order. If the first return among them precedes their last call,
// the value certainly holds from that return to that call; two such periods must not overlap.
// Otherwise all calls overlap, and their common period must not lie within the period of another
// value. (Gibbons and Korach, SIAM Journal on Computing 26, 1997.)
#include <algorithm>
#include <optional>
#include <vector>

#include "checkers/monitors/lifetimes.h"

namespace falafel::checkers::monitors {

namespace {

using Kind = MonitoredCall::Kind;
using Outcome = MonitorResult::Outcome;

// Events are counted from 1 here; the write of the initial value returns at 0.
struct Cluster {
  bool is_written = false;
  Interval write{};
  std::uint32_t first_return = never;
  std::uint32_t last_call = 0;
  std::uint32_t first_returning = never;  // position
  std::uint32_t last_called = never;      // position
  bool has_reads = false;

  bool is_period() const { return first_return < last_call; }
  std::uint32_t begin() const { return std::min(first_return, last_call); }
  std::uint32_t end() const { return std::max(first_return, last_call); }
};

void add_cluster(std::vector<std::uint32_t>& core, const Cluster& cluster) {
  for (const std::uint32_t position :
       {cluster.write.position, cluster.first_returning, cluster.last_called}) {
    const bool is_new = std::ranges::find(core, position) == core.end();
    if (position != never && is_new) core.push_back(position);
  }
}

void include_in(Cluster& cluster, const Interval& interval) {
  if (interval.return_event != never && interval.return_event + 1 < cluster.first_return) {
    cluster.first_return = interval.return_event + 1;
    cluster.first_returning = interval.position;
  }
  if (interval.call + 1 > cluster.last_call) {
    cluster.last_call = interval.call + 1;
    cluster.last_called = interval.position;
  }
}

MonitorResult register_violation(const Cluster& left, const Cluster& right) {
  MonitorResult result{.outcome = Outcome::violated};
  add_cluster(result.core, left);
  add_cluster(result.core, right);
  return result;
}

MonitorResult judge_periods(const std::vector<Cluster>& clusters) {
  std::vector<const Cluster*> periods;
  for (const Cluster& cluster : clusters) {
    if (cluster.is_written && cluster.is_period()) periods.push_back(&cluster);
  }
  std::ranges::sort(periods, {}, [](const Cluster* cluster) { return cluster->begin(); });
  for (std::size_t index = 1; index < periods.size(); ++index) {
    if (periods[index]->begin() < periods[index - 1]->end()) {
      return register_violation(*periods[index - 1], *periods[index]);
    }
  }
  for (const Cluster& cluster : clusters) {
    if (!cluster.is_written || cluster.is_period()) continue;
    const auto after = std::ranges::lower_bound(
        periods, cluster.begin(), {}, [](const Cluster* period) { return period->begin(); });
    if (after == periods.begin()) continue;
    const Cluster& around = **std::prev(after);
    if (cluster.end() < around.end()) return register_violation(around, cluster);
  }
  return {.outcome = Outcome::holds};
}

}  // namespace

MonitorResult judge_register(std::span<const MonitoredCall> calls, std::uint32_t values,
                             std::uint32_t initial) {
  const std::vector<Interval> intervals = number_events(calls);
  std::vector<Cluster> clusters(values);
  clusters[initial].is_written = true;
  clusters[initial].first_return = 0;
  for (const Interval& interval : intervals) {
    const MonitoredCall& call = calls[interval.position];
    if (call.kind != Kind::insert) continue;
    Cluster& cluster = clusters[*call.value];
    if (cluster.is_written) return {.outcome = Outcome::undecided};
    cluster.is_written = true;
    cluster.write = interval;
    include_in(cluster, interval);
  }
  for (const Interval& interval : intervals) {
    const MonitoredCall& call = calls[interval.position];
    if (call.kind == Kind::insert || !call.has_answer) continue;
    Cluster& cluster = clusters[*call.value];
    const bool has_write_call = cluster.write.position != never;
    if (!cluster.is_written) return {.outcome = Outcome::violated, .core = {interval.position}};
    if (has_write_call && interval.return_event < cluster.write.call) {
      return {.outcome = Outcome::violated, .core = {interval.position, cluster.write.position}};
    }
    cluster.has_reads = true;
    include_in(cluster, interval);
  }
  for (Cluster& cluster : clusters) {
    const bool has_answer = cluster.write.return_event != never;
    const bool is_initial = &cluster == &clusters[initial];
    if (!has_answer && !cluster.has_reads && !is_initial) cluster.is_written = false;
  }
  return judge_periods(clusters);
}

}  // namespace falafel::checkers::monitors
