#include "checkers/hidden_damage.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "engine/layout/container.h"

namespace falafel::checkers {

// Returns at most one. Leaves out lengths that no container may have: a client chooses how much of
// such a container it reads.
std::vector<HiddenDamage::Damage> HiddenDamage::damage_in(const MemoryView& view,
                                                          std::uint64_t slot) {
  using engine::Verification;
  const engine::Geometry& geometry = view.geometry;
  const engine::Entry entry = view.entry(slot);
  if (entry.is_empty() || entry.is_deleted() || entry.is_locked()) return {};
  const std::uint64_t offset = geometry.to_offset(entry.reference());
  if (!geometry.may_hold_container(offset)) return {{.slot = slot, .entry = entry}};
  const auto bytes = view.chunk.first(geometry.mature_end()).subspan(offset);
  const auto damage = [&](std::uint64_t length_bytes) {
    const auto shown = bytes.first(length_bytes);
    return std::vector<Damage>{
        {.slot = slot, .entry = entry, .bytes = {shown.begin(), shown.end()}}};
  };
  if (bytes.size() < engine::container_header_bytes) return {};
  const auto header = engine::read_container_header(bytes, Verification::on);
  if (!header) return damage(engine::container_header_bytes);
  const std::uint64_t length_bytes = header->container_bytes();
  if (length_bytes > std::min<std::uint64_t>(bytes.size(), geometry.region_bytes)) return {};
  const bool verifies = engine::read_container_key(bytes, *header, Verification::on) &&
                        engine::read_container_value(bytes, *header, Verification::on);
  return verifies ? std::vector<Damage>() : damage(length_bytes);
}

void HiddenDamage::on_scan_called(fabric::FiberId fiber, const MemoryView& view) {
  std::vector<Damage> damaged;
  const std::uint64_t first = view.geometry.first_slot(view.tables().first);
  for (std::uint64_t slot = first; slot < view.end_of_slots(); ++slot) {
    for (Damage& damage : damage_in(view, slot)) damaged.push_back(std::move(damage));
  }
  if (!damaged.empty()) scans_[fiber] = std::move(damaged);
}

void HiddenDamage::on_memory(const MemoryView& view) {
  const auto has_changed = [&](const Damage& damage) {
    const std::vector<Damage> now = damage_in(view, damage.slot);
    return now.empty() || now.front() != damage;
  };
  for (auto& [fiber, damaged] : scans_) std::erase_if(damaged, has_changed);
  std::erase_if(scans_, [](const auto& scan) { return scan.second.empty(); });
}

void HiddenDamage::on_scan_returned(fabric::FiberId fiber, const KeyScan& scan, bool is_complete,
                                    const MemoryView& view, std::uint64_t step) {
  on_memory(view);
  const auto called = scans_.find(fiber);
  if (called == scans_.end()) return;
  const std::vector<Damage> damaged = std::move(called->second);
  scans_.erase(called);
  const std::uint64_t first = view.geometry.first_slot(view.tables().first);
  const auto in_use = [&](const Damage& damage) { return damage.slot >= first; };
  const auto found = std::ranges::find_if(damaged, in_use);
  if (!is_complete || found == damaged.end() || judgement_.verdict != Verdict::holds) return;
  judgement_ = {
      .verdict = Verdict::violated,
      .property = "scan.hidden-damage",
      .explanation = fmt::format(
          "step {}: the scan of all keys by client {} (call {}) answers that it has visited all "
          "keys, but slot {} ({}) pointed to a damaged container all the time",
          step, scan.client, scan.call_time, found->slot, describe(found->entry, view.geometry)),
      .slots = {found->slot},
      .calls = {scan.call_time},
      .step = step};
}

}  // namespace falafel::checkers
