#include "tools/scenarios/store/fresh_keys.h"

#include <algorithm>

#include "tools/scenarios/store/store_world.h"

namespace falafel::store_scenario {

using checkers::Operation;

namespace {

// A client that empties a frozen entry may make later operations disagree about the table that has
// a key, so keys are never fresh where the table grows.
bool can_be_watched(const Scenario& scenario) {
  return !scenario.attacks.empty() && !scenario.geometry.can_grow();
}

// Nor are they where a client writes to memory that others have got meanwhile: it may put any key
// there, which no change of an entry shows.
bool can_be_judged(const Scenario& scenario) {
  const auto writes_late = [](const PlannedAttack& attack) {
    return attack.kind == AttackKind::late_write || attack.kind == AttackKind::stolen_release;
  };
  return can_be_watched(scenario) && std::ranges::none_of(scenario.attacks, writes_late);
}

// The server locks an entry that it moves, and the place that it moves to.
bool may_be_moving(const checkers::TableWatch& table, const engine::Geometry& geometry) {
  for (std::uint64_t slot = 0; slot < geometry.slot_count(); ++slot) {
    if (table.entry(slot).is_locked()) return true;
  }
  return false;
}

}  // namespace

FreshKeys::FreshKeys(const Scenario& scenario)
    : is_watched_(can_be_watched(scenario)),
      is_judged_(can_be_judged(scenario)),
      geometry_(scenario.geometry) {
  if (!is_judged_) return;
  for (const ClientPlan& client : scenario.clients) {
    for (const PlannedOperation& operation : client.operations) {
      if (has_key(operation.kind)) absent_at_[key_name(operation.key)];
    }
  }
}

void FreshKeys::on_changed(const checkers::TableWatch& table, std::uint64_t slot, bool by_hostile,
                           std::uint64_t time) {
  if (!is_watched_) return;
  has_shared_container_ = has_shared_container_ || shares_container(table, slot);
  if (!is_judged_) return;
  if (by_hostile) {
    last_attack_time_ = time;
    for (auto& [key, times] : absent_at_) times.clear();
  }
  if (may_be_moving(table, geometry_)) return;
  for (auto& [key, times] : absent_at_) {
    if (!table.has_entry_of(key) && (times.empty() || times.back() != time)) times.push_back(time);
  }
}

// A search ends too early at an entry that the client has emptied, so a collection that searches
// for entries frees a container whose entry stays. Then that entry has whatever key is stored there
// next, and nobody changes it for that. The source of a move is locked.
bool FreshKeys::shares_container(const checkers::TableWatch& table, std::uint64_t slot) const {
  const engine::Entry entry = table.entry(slot);
  const bool is_stand_in =
      geometry_.to_offset(entry.reference()) == engine::Geometry::stand_in_offset();
  if (entry.is_empty() || entry.is_locked() || is_stand_in) return false;
  for (std::uint64_t other = 0; other < geometry_.slot_count(); ++other) {
    const engine::Entry beside = table.entry(other);
    const bool is_same = beside.reference() == entry.reference();
    if (other != slot && is_same && !beside.is_empty() && !beside.is_locked()) return true;
  }
  return false;
}

// An operation from before the last attack may have walked the table as it was before.
std::optional<std::uint64_t> FreshKeys::fresh_since(const std::string& key,
                                                    std::span<const Operation> history) const {
  const auto absent = absent_at_.find(key);
  const bool may_change_unseen = has_server_died_ || has_shared_container_;
  if (may_change_unseen || absent == absent_at_.end()) return std::nullopt;
  std::uint64_t last_return = 0;
  for (const Operation& operation : history) {
    if (operation.key != key || operation.call_time > last_attack_time_) continue;
    if (operation.answer == checkers::Answer::indeterminate) return std::nullopt;
    last_return = std::max(last_return, operation.return_time);
  }
  const auto fresh = std::ranges::lower_bound(absent->second, last_return);
  return fresh == absent->second.end() ? std::nullopt : std::optional(*fresh);
}

std::vector<Operation> FreshKeys::operations_since(const std::string& key,
                                                   std::span<const Operation> history) const {
  const auto since = fresh_since(key, history);
  if (!since) return {};
  std::vector<Operation> operations;
  for (const Operation& operation : history) {
    if (operation.key != key) continue;
    const bool has_answer = operation.answer != checkers::Answer::indeterminate;
    if (operation.call_time > *since) {
      operations.push_back(operation);
    } else if (!has_answer || operation.return_time > *since) {
      operations.push_back(operation);
      operations.back().answer = checkers::Answer::indeterminate;
      operations.back().call_time = *since;
    }
  }
  return operations;
}

}  // namespace falafel::store_scenario
