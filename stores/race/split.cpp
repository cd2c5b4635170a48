#include "stores/race/split.h"

#include <cstring>
#include <vector>

namespace falafel::race {

Split::Outcome Split::run() {
  if (!client_.read_directory()) return Outcome::broken;
  const std::uint64_t word = client_.directory[hash_.first % client_.directory.size()];
  const DirectoryEntry entry = decode_entry(word);
  if (entry.is_locked) return Outcome::locked;
  if (entry.local_depth >= client_.connection->geometry().most_depth) return Outcome::full;
  depth_ = entry.local_depth;
  suffix_ = hash_.suffix(depth_);
  old_ = entry.subtable;
  bool is_locked = false;
  const std::uint64_t locked =
      encode(DirectoryEntry{.is_locked = true, .local_depth = depth_, .subtable = old_});
  if (!swap(Geometry::entry_offset(suffix_), word, locked, is_locked)) return Outcome::broken;
  if (!is_locked) return Outcome::locked;
  const std::uint64_t bytes = client_.connection->geometry().subtable.bytes();
  if (!client_.connection->allocate(bytes, new_)) return Outcome::broken;
  if (new_ == 0) {
    const bool is_up = swap(Geometry::entry_offset(suffix_), locked, word, is_locked);
    return is_up ? Outcome::out_of_memory : Outcome::broken;
  }
  const bool is_moved =
      create_subtable() && change_headers() && publish() && raise_depth() &&
      for_each_moving_slot([this](const SeenSlot& slot, auto) { return remove_tentative(slot); }) &&
      for_each_moving_slot([this](const SeenSlot& slot, auto key) { return move(slot, key); });
  if (!is_moved) return Outcome::broken;
  ++client_.counts.operation.splits;
  // Keys that found no room stay in the old subtable, where clients look as long as it is locked.
  if (has_room_ && !unlock()) return Outcome::broken;
  return client_.read_directory() ? Outcome::done : Outcome::broken;
}

bool Split::swap(std::uint64_t offset, std::uint64_t expected, std::uint64_t desired,
                 bool& is_swapped) {
  std::uint64_t found = 0;
  if (!client_.connection->swap(offset, expected, desired, found)) return false;
  is_swapped = found == expected;
  return true;
}

// The directory and the headers

bool Split::write_headers(std::uint64_t subtable, std::uint64_t suffix) {
  const BucketHeader header{.local_depth = static_cast<std::uint32_t>(depth_ + 1),
                            .suffix = static_cast<std::uint32_t>(suffix)};
  std::uint64_t word = 0;
  std::memcpy(&word, &header, sizeof word);
  const SubtableLayout& layout = client_.connection->geometry().subtable;
  std::vector<std::uint64_t> offsets;
  for (std::uint64_t bucket = 0; bucket < layout.buckets(); ++bucket) {
    offsets.push_back(subtable + layout.bucket_offset(bucket));
  }
  return client_.connection->write_word(offsets, word);
}

// The memory is zero, so its slots are empty.
bool Split::create_subtable() { return write_headers(new_, suffix_ | std::uint64_t{1} << depth_); }

bool Split::change_headers() { return write_headers(old_, suffix_); }

// All entries of the subtable, also those beyond the global depth. Only the client that has the
// lock changes them.
bool Split::publish() {
  const std::uint64_t step = std::uint64_t{1} << depth_;
  for (std::uint64_t index = suffix_; index < client_.connection->geometry().most_entries();
       index += step) {
    const bool is_new = (index & step) != 0;
    const bool is_first = index == suffix_;
    const DirectoryEntry before{.is_locked = is_first, .local_depth = depth_, .subtable = old_};
    const DirectoryEntry after{.is_locked = is_first || index == suffix_ + step,
                               .local_depth = depth_ + 1,
                               .subtable = is_new ? new_ : old_};
    bool is_swapped = false;
    if (!swap(Geometry::entry_offset(index), encode(before), encode(after), is_swapped)) {
      return false;
    }
  }
  return true;
}

bool Split::raise_depth() {
  std::uint64_t depth = depth_;
  while (depth < depth_ + 1) {
    std::uint64_t found = 0;
    if (!client_.connection->swap(Geometry::depth_offset, depth, depth_ + 1, found)) return false;
    if (found == depth) return true;
    depth = found;
  }
  return true;
}

bool Split::unlock() {
  const std::uint64_t step = std::uint64_t{1} << depth_;
  for (const auto& [index, subtable] :
       {std::pair(suffix_ + step, new_), std::pair(suffix_, old_)}) {
    DirectoryEntry entry{.is_locked = true, .local_depth = depth_ + 1, .subtable = subtable};
    const std::uint64_t locked = encode(entry);
    entry.is_locked = false;
    bool is_swapped = false;
    if (!swap(Geometry::entry_offset(index), locked, encode(entry), is_swapped)) return false;
  }
  return true;
}

// The slots

bool Split::for_each_moving_slot(const Action& action) {
  const SubtableLayout& layout = client_.connection->geometry().subtable;
  for (std::uint64_t bucket = 0; bucket < layout.buckets(); ++bucket) {
    const std::uint64_t offset = old_ + layout.bucket_offset(bucket);
    Bytes bytes;
    if (!client_.connection->read_bucket(offset, bytes)) return false;
    for (std::uint64_t slot = 0; slot < layout.slots_per_bucket(); ++slot) {
      SeenSlot seen{.offset = offset + SubtableLayout::slot_offset(slot)};
      std::memcpy(&seen.word, bytes.data() + SubtableLayout::slot_offset(slot), sizeof seen.word);
      if (seen.word != empty_slot && !treat(seen, action)) return false;
    }
  }
  return true;
}

// Acts on the slot if its key moves. A block that does not verify belongs to a slot that has
// changed.
bool Split::treat(SeenSlot slot, const Action& action) {
  while (slot.word != empty_slot) {
    std::vector<Bytes> blocks;
    const std::array decoded{decode(slot.word)};
    if (!client_.connection->read_blocks(decoded, blocks)) return false;
    const auto block = parse_block(blocks.front());
    if (block && block->is_right && block->tag == decoded.front().tag) {
      const KeyHash hash = hash_of(block->key, client_.connection->node().hash_seed);
      if (hash.suffix(depth_ + 1) == suffix_) return true;
      const Moved moved = action(slot, block->key);
      if (moved != Moved::changed) return moved == Moved::done;
    }
    if (!client_.connection->read_word(slot.offset, slot.word)) return false;
  }
  return true;
}

Split::Moved Split::remove_tentative(const SeenSlot& slot) {
  if (!decode(slot.word).is_tentative) return Moved::done;
  bool is_swapped = false;
  if (!swap(slot.offset, slot.word, empty_slot, is_swapped)) return Moved::broken;
  return is_swapped ? Moved::done : Moved::changed;
}

// Only this client changes the frozen word.
Split::Moved Split::move(const SeenSlot& slot, std::span<const std::byte> key) {
  if (decode(slot.word).is_tentative) return Moved::done;
  if (!client_.options.safeguards.frozen_moves) return copy(slot, key);
  bool is_swapped = false;
  if (!swap(slot.offset, slot.word, frozen(slot.word), is_swapped)) return Moved::broken;
  if (!is_swapped) return Moved::changed;
  return copy(slot, key);
}

// Without frozen moves, the slot may change while it is copied, and the copy is then taken back.
Split::Moved Split::copy(const SeenSlot& slot, std::span<const std::byte> key) {
  const bool is_frozen = client_.options.safeguards.frozen_moves;
  const std::uint64_t before = is_frozen ? frozen(slot.word) : slot.word;
  bool is_swapped = false;
  while (true) {
    Search target(client_.host, *client_.connection, client_.options, client_.counts.operation, key,
                  new_);
    if (!target.read()) return Moved::broken;
    const auto place = target.empty_slot();
    if (!place) {
      has_room_ = false;
      if (is_frozen && !swap(slot.offset, before, slot.word, is_swapped)) return Moved::broken;
      return Moved::done;
    }
    if (!swap(*place, empty_slot, slot.word, is_swapped)) return Moved::broken;
    if (!is_swapped) continue;
    if (!swap(slot.offset, before, empty_slot, is_swapped)) return Moved::broken;
    if (is_swapped) return Moved::done;
    if (!swap(*place, slot.word, empty_slot, is_swapped)) return Moved::broken;
    return Moved::changed;
  }
}

}  // namespace falafel::race
