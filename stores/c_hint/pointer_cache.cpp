#include "stores/c_hint/pointer_cache.h"

#include <ranges>
#include <utility>

namespace falafel::c_hint {

const CachedPointer* PointerCache::find(std::uint64_t hash) const {
  const auto found = pointers_.find(hash);
  return found == pointers_.end() ? nullptr : &found->second;
}

void PointerCache::put(std::uint64_t hash, const CachedPointer& pointer) {
  const CachedPointer* const before = find(hash);
  if (before != nullptr && before->version > pointer.version) return;
  if (const auto victim = arc_.access(hash)) {
    pointers_.erase(*victim);
    reads_.erase(*victim);
  }
  pointers_[hash] = pointer;
}

void PointerCache::used(std::uint64_t hash) {
  if (find(hash) == nullptr) return;
  arc_.access(hash);
  if (options_.report_counts) ++reads_[hash];
}

void PointerCache::drop(std::uint64_t hash, std::uint64_t version) {
  const CachedPointer* const pointer = find(hash);
  if (pointer != nullptr && pointer->version == version) drop(hash);
}

void PointerCache::renew(std::uint64_t hash, std::uint64_t version, std::uint64_t lease_end_ns) {
  const auto found = pointers_.find(hash);
  if (found == pointers_.end() || found->second.version != version) return;
  found->second.lease_end_ns = lease_end_ns;
}

void PointerCache::clear() {
  pointers_.clear();
  reports_in_a_row_.clear();
  reads_.clear();
  arc_ = AdaptiveReplacement(options_.pointers);
}

void PointerCache::pick_from(const std::list<std::uint64_t>& list,
                             std::vector<ReportEntry>& picked) const {
  std::uint32_t left = options_.picks_per_list;
  for (const std::uint64_t hash : list | std::views::reverse) {
    if (left == 0) return;
    const CachedPointer* const pointer = find(hash);
    const auto reports = reports_in_a_row_.find(hash);
    const bool was_reported_often =
        reports != reports_in_a_row_.end() && reports->second >= options_.most_reports_in_a_row;
    if (pointer == nullptr || was_reported_often) continue;
    picked.push_back({.hash = hash, .version = pointer->version});
    --left;
  }
}

std::vector<ReportEntry> PointerCache::pick() {
  std::vector<ReportEntry> picked;
  pick_from(arc_.used_once(), picked);
  pick_from(arc_.used_often(), picked);
  std::map<std::uint64_t, std::uint32_t> reports_in_a_row;
  for (ReportEntry& entry : picked) {
    reports_in_a_row[entry.hash] = reports_in_a_row_[entry.hash] + 1;
    if (!options_.report_counts) continue;
    entry.accesses = reads_[entry.hash];
    reads_.erase(entry.hash);
  }
  reports_in_a_row_ = std::move(reports_in_a_row);
  return picked;
}

}  // namespace falafel::c_hint
