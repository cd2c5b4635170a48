#include "checkers/key_scans.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <string_view>
#include <utility>

#include "engine/layout/pinned.h"

namespace falafel::checkers {
namespace {

constexpr std::uint64_t never = std::numeric_limits<std::uint64_t>::max();

// An operation that may have stored or removed a value.
struct Change {
  const Operation* operation = nullptr;
  std::optional<Expiry> expiry{};

  bool is_set() const { return operation->kind == OperationKind::set; }
  bool is_certain() const { return operation->answer != Answer::indeterminate; }
  std::uint64_t end_time() const { return is_certain() ? operation->return_time : never; }
  bool precedes(const Change& other) const { return end_time() < other.operation->call_time; }
  bool may_be_gone_at(std::uint64_t time_ns) const {
    return expiry && expiry->earliest_ns <= time_ns;
  }
  bool is_pinned() const { return expiry && expiry->is_pinned; }
  bool is_gone_at(std::uint64_t time_ns) const { return expiry && expiry->latest_ns <= time_ns; }
};

using Changes = std::vector<Change>;

bool is_change(const Operation& operation) {
  const Answer done = operation.kind == OperationKind::set ? Answer::stored : Answer::deleted;
  const bool is_of_kind =
      operation.kind == OperationKind::set || operation.kind == OperationKind::remove;
  return is_of_kind && (operation.answer == done || operation.answer == Answer::indeterminate);
}

std::map<std::string_view, Changes> changes_by_key(const ScannedHistory& history) {
  std::map<std::string_view, Changes> changes;
  for (std::size_t index = 0; index < history.operations.size(); ++index) {
    const Operation& operation = history.operations[index];
    Changes& of_key = changes[operation.key];
    if (!is_change(operation)) continue;
    const auto expiry = history.expiries.empty() ? std::nullopt : history.expiries[index];
    of_key.push_back({.operation = &operation, .expiry = expiry});
  }
  return changes;
}

class ScanJudge {
 public:
  ScanJudge(const KeyScan& scan, const ScannedHistory& history)
      : scan_(scan), evicts_(history.evicts), changes_(changes_by_key(history)) {}

  KeyScanJudgement judge() {
    for (const KeyVisit& visit : scan_.visits) judge_visit(visit);
    for (const auto& [key, changes] : changes_) judge_key(key, changes);
    return std::move(result_);
  }

 private:
  void judge_visit(const KeyVisit& visit);
  void judge_key(std::string_view key, const Changes& changes);
  // Returns whether the key may have had the value of this set after the scan began, and before
  // `time`.
  bool may_be_current(const Change& set, const Changes& changes, std::uint64_t time) const;
  bool is_certainly_present(const Changes& changes) const;
  bool is_certainly_present_since(const Change& set, const Changes& changes) const;
  bool explains_time_to_live(const Change& set, const KeyVisit& visit) const;
  bool is_visited(std::string_view key) const;
  std::string describe_changes(std::string_view key) const;
  void violate(std::string_view property, std::string_view key, const std::string& explanation);

  const KeyScan& scan_;
  bool evicts_;
  std::map<std::string_view, Changes> changes_;
  KeyScanJudgement result_{
      .judgement = {.verdict = Verdict::holds, .property = "scan", .explanation = {}}};
};

void ScanJudge::judge_visit(const KeyVisit& visit) {
  const Changes& changes = changes_[visit.key];
  Changes candidates;
  for (const Change& set : changes) {
    if (may_be_current(set, changes, visit.time)) candidates.push_back(set);
  }
  if (candidates.empty()) {
    return violate("absent-key", visit.key, "is visited, but was absent during the whole scan");
  }
  std::erase_if(candidates, [&](const Change& set) { return set.operation->value != visit.value; });
  if (candidates.empty()) {
    return violate("wrong-value", visit.key,
                   fmt::format("is visited with {}, which it did not have during the scan",
                               quote(visit.value)));
  }
  const auto explains = [&](const Change& set) { return explains_time_to_live(set, visit); };
  if (std::ranges::any_of(candidates, explains)) return;
  violate("time-to-live", visit.key,
          fmt::format("is visited with {} for another {} ns, which it did not have",
                      quote(visit.value), visit.time_to_live_ns));
}

void ScanJudge::judge_key(std::string_view key, const Changes& changes) {
  const std::uint64_t end = scan_.is_complete ? scan_.return_time : never;
  const auto is_candidate = [&](const Change& set) { return may_be_current(set, changes, end); };
  if (std::ranges::none_of(changes, is_candidate)) ++result_.absent_keys;
  if (!scan_.is_complete || !is_certainly_present(changes)) return;
  ++result_.present_keys;
  if (is_visited(key)) return;
  violate("missed-key", key, "is not visited, but was present during the whole scan");
}

bool ScanJudge::may_be_current(const Change& set, const Changes& changes,
                               std::uint64_t time) const {
  if (!set.is_set() || set.operation->call_time >= time) return false;
  if (set.is_gone_at(scan_.call_ns)) return false;
  return std::ranges::none_of(changes, [&](const Change& later) {
    return set.precedes(later) && later.end_time() < scan_.call_time;
  });
}

bool ScanJudge::is_certainly_present(const Changes& changes) const {
  return std::ranges::any_of(changes, [&](const Change& set) {
    return set.is_set() && set.end_time() < scan_.call_time &&
           is_certainly_present_since(set, changes);
  });
}

// No value that the key may have had since the set was removed, or may have expired.
bool ScanJudge::is_certainly_present_since(const Change& set, const Changes& changes) const {
  return std::ranges::all_of(changes, [&](const Change& change) {
    const bool is_over = change.precedes(set) || change.operation->call_time >= scan_.return_time;
    if (is_over) return true;
    const bool may_be_evicted = evicts_ && !change.is_pinned();
    return change.is_set() && !may_be_evicted && !change.may_be_gone_at(scan_.return_ns);
  });
}

// The time that was left when the scan read the value, which was between its call and the visit.
bool ScanJudge::explains_time_to_live(const Change& set, const KeyVisit& visit) const {
  if (!set.expiry) return visit.time_to_live_ns == 0;
  const bool is_pinned = visit.time_to_live_ns == engine::pinned_time_to_live_ns;
  if (is_pinned || set.is_pinned()) return is_pinned && set.is_pinned();
  const auto left_ns = [](std::uint64_t expiry_ns, std::uint64_t time_ns) {
    return expiry_ns == never ? never : expiry_ns - std::min(expiry_ns, time_ns);
  };
  return visit.time_to_live_ns > 0 &&
         visit.time_to_live_ns >= left_ns(set.expiry->earliest_ns, visit.time_ns) &&
         visit.time_to_live_ns <= left_ns(set.expiry->latest_ns, scan_.call_ns);
}

bool ScanJudge::is_visited(std::string_view key) const {
  return std::ranges::find(scan_.visits, key, &KeyVisit::key) != scan_.visits.end();
}

std::string ScanJudge::describe_changes(std::string_view key) const {
  std::string text;
  for (const Change& change : changes_.at(key)) text += "; " + describe(*change.operation);
  return text;
}

void ScanJudge::violate(std::string_view property, std::string_view key,
                        const std::string& explanation) {
  if (result_.judgement.verdict != Verdict::holds) return;
  result_.judgement = {
      .verdict = Verdict::violated,
      .property = fmt::format("scan.{}", property),
      .explanation = fmt::format("the scan of all keys by client {} (call {}, return {}): {} {}{}",
                                 scan_.client, scan_.call_time,
                                 scan_.is_complete ? std::to_string(scan_.return_time) : "none",
                                 quote(key), explanation, describe_changes(key)),
      .calls = {scan_.call_time}};
}

}  // namespace

KeyScanJudgement check_key_scan(const KeyScan& scan, const ScannedHistory& history) {
  return ScanJudge(scan, history).judge();
}

}  // namespace falafel::checkers
