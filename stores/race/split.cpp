#include "stores/race/split.h"

#include <array>
#include <cstring>
#include <vector>

namespace falafel::race {

Split::Outcome Split::run() {
  DirectoryEntry entry;
  DirectoryEntry sibling;
  if (!find_split(entry, sibling)) return Outcome::broken;
  if (entry.state != EntryState::settled) return Outcome::in_progress;
  if (depth_ >= client_.connection->geometry().most_depth) return Outcome::full;
  if (sibling != entry) return Outcome::in_progress;
  if (!take_subtable()) return Outcome::broken;
  if (new_ == 0) return Outcome::out_of_memory;
  bool is_prepared = false;
  if (!create_subtable() || !prepare(is_prepared)) return Outcome::broken;
  if (!is_prepared) return Outcome::in_progress;
  if (!finish()) return Outcome::broken;
  ++client_.counts.operation.splits;
  return Outcome::done;
}

bool Split::help() {
  DirectoryEntry entry;
  DirectoryEntry sibling;
  if (!find_split(entry, sibling)) return false;
  if (sibling.local_depth <= depth_) return true;
  new_ = sibling.subtable;
  ++client_.counts.operation.helped_splits;
  return finish();
}

// Finds the first entry of the key's subtable. While a split is in progress, that entry shows it,
// or the first one of the new subtable does.
bool Split::find_split(DirectoryEntry& entry, DirectoryEntry& sibling) {
  if (!client_.read_directory()) return false;
  std::uint64_t index = hash_.first % client_.directory.size();
  const auto first_index = [&] {
    return hash_.suffix(decode_entry(client_.directory[index]).local_depth);
  };
  while (first_index() < index) index = first_index();
  entry = decode_entry(client_.directory[index]);
  depth_ = settled_depth(client_.directory[index]);
  suffix_ = hash_.suffix(depth_);
  old_ = decode_entry(client_.directory[suffix_]).subtable;
  if (depth_ >= client_.connection->geometry().most_depth) return true;
  std::uint64_t word = 0;
  if (!client_.connection->read_word(Geometry::entry_offset(suffix_ + step()), word)) return false;
  sibling = decode_entry(word);
  return true;
}

// -------------------------------------------------------------------------------------------------
// The new subtable

bool Split::take_subtable() {
  if (client_.spare_subtable) {
    new_ = *client_.spare_subtable;
    client_.spare_subtable.reset();
    return true;
  }
  return client_.connection->allocate(client_.connection->geometry().subtable.bytes(), new_);
}

std::uint64_t Split::header(std::uint64_t depth, std::uint64_t suffix) const {
  const BucketHeader header{.local_depth = static_cast<std::uint32_t>(depth),
                            .suffix = static_cast<std::uint32_t>(suffix)};
  std::uint64_t word = 0;
  std::memcpy(&word, &header, sizeof word);
  return word;
}

// Nobody else knows the subtable yet.
bool Split::create_subtable() {
  const SubtableLayout& layout = client_.connection->geometry().subtable;
  std::vector<std::uint64_t> bucket(1 + layout.slots_per_bucket(), reserved_slot);
  bucket.front() = header(depth_ + 1, suffix_ + step());
  std::vector<std::uint64_t> offsets;
  for (std::uint64_t number = 0; number < layout.buckets(); ++number) {
    offsets.push_back(new_ + layout.bucket_offset(number));
  }
  return client_.connection->write_copies(offsets, std::as_bytes(std::span(bucket)));
}

bool Split::prepare(bool& is_prepared) {
  const DirectoryEntry before{.local_depth = depth_, .subtable = old_};
  const DirectoryEntry after{
      .state = EntryState::prepared, .local_depth = depth_ + 1, .subtable = new_};
  std::uint64_t found = 0;
  const std::uint64_t place = Geometry::entry_offset(suffix_ + step());
  if (!swap(place, encode(before), encode(after), found)) return false;
  is_prepared = found == encode(before);
  if (!is_prepared) client_.spare_subtable = new_;
  return true;
}

// -------------------------------------------------------------------------------------------------
// The directory and the headers

// Clients that meet a new header find the new subtable in the directory. Inserts that have read old
// headers are in their slots by the time that tentative slots are removed, and these go before any
// slot moves: such an insert does not see a copy of its key that has moved.
bool Split::finish() {
  return advance_entries(EntryState::moving) && raise_depth() && change_headers() &&
         for_each_slot(&Split::remove_tentative) && for_each_slot(&Split::move) &&
         advance_entries(EntryState::settled) && client_.read_directory();
}

bool Split::change_headers() {
  const SubtableLayout& layout = client_.connection->geometry().subtable;
  for (std::uint64_t bucket = 0; bucket < layout.buckets(); ++bucket) {
    std::uint64_t found = 0;
    if (!swap(old_ + layout.bucket_offset(bucket), header(depth_, suffix_),
              header(depth_ + 1, suffix_), found)) {
      return false;
    }
  }
  return true;
}

// All entries of both subtables, also those beyond the global depth. The first entries of both are
// the first to move and the last to settle, so they show a split as long as it lasts.
bool Split::advance_entries(EntryState state) {
  const std::uint64_t count = client_.connection->geometry().most_entries() / step();
  for (std::uint64_t number = 0; number < count; ++number) {
    const bool is_settled = state == EntryState::settled;
    const std::uint64_t index = suffix_ + step() * (is_settled ? count - 1 - number : number);
    const DirectoryEntry after{
        .state = state, .local_depth = depth_ + 1, .subtable = (index & step()) != 0 ? new_ : old_};
    DirectoryEntry before{.local_depth = depth_, .subtable = old_};
    if (is_settled || number == 1) {
      before = after;
      before.state = is_settled ? EntryState::moving : EntryState::prepared;
    }
    if (!advance(index, before, after)) return false;
  }
  return true;
}

// `before` is the word that is most likely there.
bool Split::advance(std::uint64_t index, const DirectoryEntry& before,
                    const DirectoryEntry& after) {
  std::uint64_t expected = encode(before);
  while (!has_reached(decode_entry(expected), after)) {
    std::uint64_t found = 0;
    if (!swap(Geometry::entry_offset(index), expected, encode(after), found)) return false;
    if (found == expected) return true;
    expected = found;
  }
  return true;
}

bool Split::raise_depth() {
  std::uint64_t depth = depth_;
  while (depth < depth_ + 1) {
    std::uint64_t found = 0;
    if (!swap(Geometry::depth_offset, depth, depth_ + 1, found)) return false;
    if (found == depth) return true;
    depth = found;
  }
  return true;
}

// -------------------------------------------------------------------------------------------------
// The slots

bool Split::for_each_slot(Action action) {
  const SubtableLayout& layout = client_.connection->geometry().subtable;
  for (std::uint64_t bucket = 0; bucket < layout.buckets(); ++bucket) {
    Bytes bytes;
    if (!client_.connection->read_bucket(old_ + layout.bucket_offset(bucket), bytes)) return false;
    for (std::uint64_t slot = 0; slot < layout.slots_per_bucket(); ++slot) {
      const std::uint64_t offset = SubtableLayout::slot_offset(slot);
      Place place{.offset = layout.bucket_offset(bucket) + offset};
      std::memcpy(&place.word, bytes.data() + offset, sizeof place.word);
      if (!(this->*action)(place)) return false;
    }
  }
  return true;
}

// A block that does not verify belongs to a slot that has changed.
Split::Standing Split::judge(std::uint64_t word) {
  if (!has_block(word)) return Standing::stays;
  std::vector<Bytes> blocks;
  const std::array slots{decode(word)};
  if (!client_.connection->read_blocks(slots, blocks)) return Standing::broken;
  const auto block = parse_block(blocks.front());
  if (!block || !block->is_right || block->tag != slots.front().tag) return Standing::changed;
  const KeyHash hash = hash_of(block->key, client_.connection->node().hash_seed);
  return hash.suffix(depth_ + 1) == suffix_ ? Standing::stays : Standing::moves;
}

bool Split::remove_tentative(Place place) {
  while (decode(place.word).is_tentative) {
    switch (judge(place.word)) {
      case Standing::broken: return false;
      case Standing::stays: return true;
      case Standing::changed:
        if (!client_.connection->read_word(old_ + place.offset, place.word)) return false;
        break;
      case Standing::moves: {
        std::uint64_t found = 0;
        if (!swap(old_ + place.offset, place.word, empty_slot, found)) return false;
        if (found == place.word) return true;
        place.word = found;
      }
    }
  }
  return true;
}

// No slot of a moving key can be confirmed here any more, so a place from which nothing moves is
// free for inserts.
bool Split::move(Place place) {
  while (true) {
    const bool is_tentative = decode(place.word).is_tentative;
    switch (is_tentative ? Standing::stays : judge(place.word)) {
      case Standing::broken: return false;
      case Standing::stays: {
        std::uint64_t found = 0;
        return swap(new_ + place.offset, reserved_slot, empty_slot, found);
      }
      case Standing::changed:
        if (!client_.connection->read_word(old_ + place.offset, place.word)) return false;
        break;
      case Standing::moves: {
        bool is_moved = false;
        if (!copy(place, is_moved)) return false;
        if (is_moved) return true;
      }
    }
  }
}

// Another client may do the same. Without frozen moves, the slot may change while it is copied, and
// the copy is then taken back.
bool Split::copy(Place& place, bool& is_moved) {
  const bool freezes = client_.options.safeguards.frozen_moves;
  const std::uint64_t word = thawed(place.word);
  const std::uint64_t held = freezes ? frozen(word) : word;
  std::uint64_t found = place.word;
  if (place.word != held) {
    if (!swap(old_ + place.offset, place.word, held, found)) return false;
    if (found != place.word && found != held) {
      place.word = found;
      return true;
    }
  }
  std::uint64_t copy = 0;
  if (!swap(new_ + place.offset, reserved_slot, word, copy)) return false;
  if (!swap(old_ + place.offset, held, empty_slot, found)) return false;
  is_moved = found == held || freezes;
  if (is_moved) return true;
  place.word = found;
  return copy != reserved_slot || swap(new_ + place.offset, word, reserved_slot, copy);
}

}  // namespace falafel::race
