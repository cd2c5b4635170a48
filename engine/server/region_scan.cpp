#include "engine/server/region_scan.h"

#include <algorithm>

#include "engine/layout/container.h"
#include "engine/layout/key_hash.h"
#include "engine/server/chain.h"

namespace falafel::engine {

// A scan of a region that a correct client filled examines each byte a few times at most.
RegionScan::RegionScan(const Chunk& chunk, Pace& pace, const ByteRange& range,
                       const std::uint64_t& shifted)
    : chunk_(chunk),
      pace_(pace),
      shifted_(shifted),
      position_(range.begin),
      end_(range.end),
      work_left_(4 * (range.end - range.begin) + chunk.end_of_slots_in_use() -
                 chunk.first_slot_in_use()) {}

void RegionScan::work(std::uint64_t amount) {
  work_left_ -= std::min(work_left_, amount);
  pace_.step(amount);
}

std::optional<LiveContainer> RegionScan::next() {
  while (!has_given_up() && position_ + container_header_bytes < end_) {
    const auto found = may_begin_container() ? examine() : std::nullopt;
    const std::uint64_t passed =
        found ? chunk_.geometry.round_up_to_unit(found->header.container_bytes())
              : chunk_.geometry.unit_bytes;
    position_ += passed;
    work(1);
    if (found) return found;
  }
  return std::nullopt;
}

// Checks only the first word, which rules out most units.
bool RegionScan::may_begin_container() const {
  const std::uint64_t word = chunk_.block->load(position_);
  const std::uint64_t key_bytes = word >> 32;
  return (word & 0xffff'ffff) == container_magic && key_bytes > 0 && key_bytes <= max_key_bytes;
}

std::optional<LiveContainer> RegionScan::examine() {
  const auto header = chunk_.read_header(position_);
  if (!header || header->container_bytes() > end_ - position_) return std::nullopt;
  work(header->key_bytes);
  const auto key = chunk_.read_key(position_, *header);
  if (!key) return std::nullopt;
  auto found = find_entry(*key);
  if (found) found->header = *header;
  return found;
}

// Finds the entry that points here. While a search waits, a cleanup may move the entry to a slot
// that the search has passed.
std::optional<LiveContainer> RegionScan::find_entry(std::span<const std::byte> key) {
  std::uint64_t shifted_before = 0;
  std::optional<LiveContainer> found;
  do {
    shifted_before = shifted_;
    found = search(key);
  } while (!found && shifted_ != shifted_before && !has_given_up());
  return found;
}

// Searches the key's collision chain once.
std::optional<LiveContainer> RegionScan::search(std::span<const std::byte> key) {
  Chain chain(chunk_, hash_of(key, chunk_.hash_key), chunk_.tables.first);
  while (!chain.is_over() && !has_given_up()) {
    const std::uint64_t slot = chain.slot();
    const Entry entry = chunk_.load_entry(slot);
    work(1);
    if (!entry.is_empty() && chunk_.geometry.to_offset(entry.reference()) == position_) {
      return LiveContainer{.slot = slot, .entry = entry, .header = {}};
    }
    chain.pass(entry);
  }
  return std::nullopt;
}

}  // namespace falafel::engine
