#include "engine/server/mature_spaces.h"

#include <algorithm>

#include "fabric/fabric.h"

namespace falafel::engine {
namespace {

bool is_free(const MatureSpaceInspection& space) {
  return space.held && !space.active && !space.waiting && space.used_bytes == 0;
}

}  // namespace

MatureSpaces::MatureSpaces(const Geometry& geometry, bool are_held)
    : geometry_(geometry),
      spaces_(geometry.mature_space_count),
      most_live_(geometry.mature_space_count),
      free_count_(are_held ? geometry.mature_space_count - 1 : 0),
      held_count_(are_held ? geometry.mature_space_count : 0) {
  for (MatureSpaceInspection& space : spaces_) space.held = are_held;
  spaces_[active_].active = true;
}

std::uint32_t MatureSpaces::first_not_held() const {
  const auto found = std::ranges::find(spaces_, false, &MatureSpaceInspection::held);
  FALAFEL_ASSERT(found != spaces_.end(), "all of {} blocks are held", spaces_.size());
  return static_cast<std::uint32_t>(found - spaces_.begin());
}

std::uint32_t MatureSpaces::last_free() const {
  const auto found = std::find_if(spaces_.rbegin(), spaces_.rend(), is_free);
  FALAFEL_ASSERT(found != spaces_.rend(), "none of {} blocks is free", spaces_.size());
  return static_cast<std::uint32_t>(spaces_.rend() - found) - 1;
}

void MatureSpaces::set_held(std::uint32_t space, bool is_held) {
  MatureSpaceInspection& changed = spaces_[space];
  FALAFEL_ASSERT(changed.held != is_held && !changed.waiting && changed.used_bytes == 0,
                 "block {} with {} bytes in use changes whether it is held", space,
                 changed.used_bytes);
  const bool was_free = is_free(changed);
  changed.held = is_held;
  held_count_ += is_held ? 1 : std::uint64_t{0} - 1;
  if (is_free(changed)) note_free(space);
  if (was_free) --free_count_;
}

bool MatureSpaces::is_in_use(std::uint64_t offset) const {
  const auto space = geometry_.mature_space_at(offset);
  return space && offset < geometry_.mature_offset(*space) + spaces_[*space].used_bytes;
}

std::uint64_t MatureSpaces::allocate(std::uint64_t size_bytes) {
  const std::uint64_t rounded_bytes = geometry_.round_up_to_unit(size_bytes);
  const bool fits = spaces_[target_].used_bytes + rounded_bytes <= geometry_.mature_bytes;
  if (!fits && geometry_.has_blocks()) {
    spaces_[active_].active = false;
    active_ = target_ = take_free_space();
    spaces_[active_].active = true;
  }
  MatureSpaceInspection& space = spaces_[target_];
  FALAFEL_ASSERT(space.used_bytes + rounded_bytes <= geometry_.mature_bytes,
                 "mature space {} has no room for {} bytes: {} of {} are in use", target_,
                 rounded_bytes, space.used_bytes, geometry_.mature_bytes);
  const std::uint64_t offset = geometry_.mature_offset(target_) + space.used_bytes;
  space.used_bytes += rounded_bytes;
  space.unmeasured_bytes += rounded_bytes;
  most_live_[target_] += rounded_bytes;
  allocated_bytes_ += rounded_bytes;
  if (!is_collecting_) written_bytes_ += rounded_bytes;
  return offset;
}

void MatureSpaces::restore(std::uint32_t space, std::uint64_t used_bytes) {
  spaces_[space].used_bytes = used_bytes;
  spaces_[space].unmeasured_bytes = used_bytes;
  most_live_[space] = used_bytes;
  count_free();
}

void MatureSpaces::activate(std::uint32_t space) {
  spaces_[active_].active = false;
  active_ = target_ = space;
  spaces_[active_].active = true;
  count_free();
}

void MatureSpaces::count_free() {
  free_count_ = static_cast<std::uint64_t>(std::ranges::count_if(spaces_, is_free));
  next_free_ = 0;
}

// All bytes copied since the measurement began may be live. A hostile client can make containers
// overlap, and then more bytes are live than there are.
void MatureSpaces::note_live(const std::vector<LiveSpace>& measured) {
  for (std::uint32_t space = 0; space < spaces_.size(); ++space) {
    const std::uint64_t used_bytes = spaces_[space].used_bytes;
    if (used_bytes < measured[space].used_bytes) continue;  // it was collected meanwhile
    const std::uint64_t copied_bytes = used_bytes - measured[space].used_bytes;
    spaces_[space].unmeasured_bytes = copied_bytes;
    most_live_[space] = std::min(measured[space].live_bytes + copied_bytes, used_bytes);
  }
}

std::uint32_t MatureSpaces::take_free_space() {
  FALAFEL_ASSERT(free_count_ > 0, "none of {} blocks is free, {} wait for clients", spaces_.size(),
                 waiting_count_);
  while (!is_free(spaces_[next_free_])) ++next_free_;
  --free_count_;
  return next_free_;
}

void MatureSpaces::begin_collection(std::uint32_t source) {
  is_collecting_ = true;
  if (geometry_.has_blocks()) {
    FALAFEL_ASSERT(source != active_, "block {} is active", source);
    return;
  }
  FALAFEL_ASSERT(source == active_, "mature space {} is not active", source);
  target_ = 1 - source;
  FALAFEL_ASSERT(is_free(spaces_[target_]), "mature space {} is not free", target_);
  --free_count_;
}

void MatureSpaces::end_collection(std::uint32_t source, bool waits) {
  is_collecting_ = false;
  active_ = target_;
  spaces_[active_].active = true;
  spaces_[source] = {.active = false, .waiting = waits, .used_bytes = 0};
  most_live_[source] = 0;
  if (waits) {
    ++waiting_count_;
  } else {
    note_free(source);
  }
}

void MatureSpaces::set_reclaimed(std::uint32_t space) {
  if (!spaces_[space].waiting) return;
  spaces_[space].waiting = false;
  --waiting_count_;
  note_free(space);
}

void MatureSpaces::note_free(std::uint32_t space) {
  ++free_count_;
  next_free_ = std::min(next_free_, space);
}

}  // namespace falafel::engine
