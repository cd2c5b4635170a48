#include "tools/scenarios/store/timeline/memory_recorder.h"

#include <algorithm>

#include "engine/layout/container.h"
#include "explorer/timeline/readable.h"

namespace falafel::store_scenario {

MemoryRecorder::MemoryRecorder(const engine::Geometry& geometry)
    : geometry_(geometry),
      slots_(geometry.slot_count()),
      regions_(geometry.region_count),
      incarnations_(geometry.region_count),
      written_bytes_(geometry.region_count),
      spaces_(geometry.mature_space_count) {}

void MemoryRecorder::note_write(std::uint64_t offset, std::uint64_t length_bytes, bool by_client) {
  written_.push_back({offset, offset + length_bytes});
  const std::uint64_t regions_begin = geometry_.region_offset(0);
  if (!by_client || offset < regions_begin) return;
  const std::uint64_t region = (offset - regions_begin) / geometry_.region_bytes;
  if (region >= regions_.size()) return;
  const std::uint64_t end = offset + length_bytes - geometry_.region_offset(region);
  written_bytes_[region] = std::max(written_bytes_[region], end);
}

void MemoryRecorder::look(std::uint64_t step, const checkers::MemoryView& view,
                          std::uint32_t first_connection) {
  const bool slots_changed = look_at_slots(step, view);
  look_at_regions(step, view, first_connection, slots_changed);
  look_at_spaces(step, view, slots_changed);
  written_.clear();
}

bool MemoryRecorder::is_written(const Range& bytes) const {
  return std::ranges::any_of(written_,
                             [&](const Range& written) { return written.overlaps(bytes); });
}

bool MemoryRecorder::look_at_slots(std::uint64_t step, const checkers::MemoryView& view) {
  bool has_changed = false;
  for (std::uint64_t slot = 0; slot < slots_.size(); ++slot) {
    const engine::Entry entry = view.entry(slot);
    const bool is_new = entry.word() != slots_[slot].word;
    if (!is_new && (written_.empty() || !is_written(slots_[slot].bytes))) continue;
    read_slot(step, slot, entry, view);
    has_changed = true;
  }
  return has_changed;
}

void MemoryRecorder::read_slot(std::uint64_t step, std::uint64_t slot, engine::Entry entry,
                               const checkers::MemoryView& view) {
  const auto stored = entry.is_empty() ? std::nullopt : checkers::read_stored(view, entry);
  const Slot before = slots_[slot];
  Slot& now = slots_[slot];
  now.word = entry.word();
  now.container = stored ? number_of(*stored) : timeline::none;
  // An invalid container may be as long as a region and may still become valid.
  const std::uint64_t begin = geometry_.to_offset(entry.reference());
  now.bytes = {begin, begin + (stored ? stored->size_bytes : geometry_.region_bytes)};
  if (entry.is_empty()) now.bytes = {};
  if (now.word == before.word && now.container == before.container) return;
  memory_.slots.push_back(
      {.step = step, .slot = slot, .word = now.word, .container = now.container});
}

std::uint32_t MemoryRecorder::number_of(const checkers::StoredContainer& stored) {
  const auto [found, is_new] =
      numbers_.try_emplace({stored.offset, stored.key, stored.value},
                           static_cast<std::uint32_t>(memory_.containers.size()));
  if (is_new) {
    memory_.containers.push_back({.offset = stored.offset,
                                  .size_bytes = stored.size_bytes,
                                  .key = timeline::readable(stored.key),
                                  .value = timeline::readable(stored.value)});
  }
  return found->second;
}

std::uint64_t MemoryRecorder::live_bytes(const Range& bytes) const {
  std::uint64_t live = 0;
  for (const Slot& slot : slots_) {
    const bool is_live = slot.container != timeline::none && !engine::Entry(slot.word).is_deleted();
    if (is_live && bytes.overlaps(slot.bytes)) live += slot.bytes.end - slot.bytes.begin;
  }
  return live;
}

void MemoryRecorder::look_at_regions(std::uint64_t step, const checkers::MemoryView& view,
                                     std::uint32_t first_connection, bool slots_changed) {
  for (std::uint32_t index = 0; index < regions_.size(); ++index) {
    const engine::RegionInspection& inspected = view.regions[index];
    RegionUse now = regions_[index];
    now.state = inspected.state;
    const bool is_granted = inspected.state == engine::RegionState::granted;
    now.connection = is_granted ? first_connection + inspected.client : timeline::none;
    const bool is_granted_anew = inspected.incarnation != incarnations_[index];
    incarnations_[index] = inspected.incarnation;
    if (is_granted_anew || now.state == engine::RegionState::free) written_bytes_[index] = 0;
    now.written_bytes = written_bytes_[index];
    const std::uint64_t begin = geometry_.region_offset(index);
    if (slots_changed) now.live_bytes = live_bytes({begin, begin + geometry_.region_bytes});
    if (now == regions_[index]) continue;
    regions_[index] = now;
    memory_.regions.push_back({.step = step, .region = index, .use = now});
  }
}

void MemoryRecorder::look_at_spaces(std::uint64_t step, const checkers::MemoryView& view,
                                    bool slots_changed) {
  for (std::uint32_t index = 0; index < spaces_.size(); ++index) {
    const engine::MatureSpaceInspection& inspected = view.mature_spaces[index];
    SpaceUse now{.active = inspected.active,
                 .waiting = inspected.waiting,
                 .used_bytes = inspected.used_bytes,
                 .live_bytes = spaces_[index].live_bytes};
    const std::uint64_t begin = geometry_.mature_offset(index);
    if (slots_changed) now.live_bytes = live_bytes({begin, begin + geometry_.mature_bytes});
    if (now == spaces_[index]) continue;
    spaces_[index] = now;
    memory_.spaces.push_back({.step = step, .space = index, .use = now});
  }
}

}  // namespace falafel::store_scenario
