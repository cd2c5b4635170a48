#include "stores/nessie/served_table.h"

#include <algorithm>
#include <utility>

namespace falafel::nessie {

using stores::Answer;

ServedTable::ServedTable(fabric::Host& host, std::shared_ptr<fabric::MemoryBlock> block,
                         const NodeLayout& layout, std::uint64_t node, std::uint64_t nodes,
                         DataTable& data, const Options& options)
    : host_(host),
      block_(std::move(block)),
      layout_(layout),
      node_(node),
      nodes_(nodes),
      data_(data),
      options_(options),
      locks_(host, group_of(options.index_entries - 1) + 1) {}

Candidates ServedTable::candidates(std::span<const std::byte> key) const {
  host_.spend(fabric::Work::hash, options_.ways * key.size());
  return candidates_of(key, nodes_, options_);
}

Locks::Numbers ServedTable::groups_of(const Candidates& candidates) const {
  Locks::Numbers groups;
  for (const Slot& slot : candidates) groups.insert(group_of(slot.index));
  return groups;
}

void ServedTable::lock(LockHolder& holder, const Locks::Numbers& groups) const {
  if (options_.safeguards.group_locks) holder.lock(groups);
}

std::uint64_t ServedTable::load(std::uint64_t index) const {
  return block_->load(layout_.index_offset(index));
}

void ServedTable::change(std::uint64_t index, std::uint64_t before, std::uint64_t after) {
  host_.preemption_point();
  const std::uint64_t offset = layout_.index_offset(index);
  if (options_.is_hybrid() && options_.safeguards.fenced_index) {
    block_->compare_and_swap(offset, before, after);
  } else {
    block_->store(offset, after);
  }
}

std::optional<DataEntry> ServedTable::entry_of(std::uint64_t word, bool with_value) const {
  return data_.read(decode(word).data_entry, with_value);
}

bool ServedTable::has_key(std::uint64_t word, std::span<const std::byte> key) const {
  const IndexEntry index = decode(word);
  if (index.is_empty || index.filter != filter_of(key, options_)) return false;
  const auto entry = entry_of(word, false);
  return entry && std::ranges::equal(entry->key, key);
}

std::optional<std::uint64_t> ServedTable::find(const Candidates& candidates,
                                               std::span<const std::byte> key) const {
  for (const Slot& slot : candidates) {
    if (has_key(load(slot.index), key)) return slot.index;
  }
  return std::nullopt;
}

std::optional<Bytes> ServedTable::get(std::span<const std::byte> key) {
  const Candidates slots = candidates(key);
  LockHolder holder(locks_);
  lock(holder, groups_of(slots));
  const auto index = find(slots, key);
  if (!index) return std::nullopt;
  auto entry = entry_of(load(*index), true);
  if (!entry) return std::nullopt;
  return std::move(entry->value);
}

Answer ServedTable::remove(std::span<const std::byte> key) {
  const Candidates slots = candidates(key);
  LockHolder holder(locks_);
  lock(holder, groups_of(slots));
  const auto index = find(slots, key);
  if (!index) return Answer::not_found;
  const std::uint64_t word = load(*index);
  change(*index, word, emptied_word(word, options_));
  retire(word);
  return Answer::deleted;
}

// A chain may leave the groups that are locked. All of them are then locked anew, in their order,
// and the chain is looked for again, because everything may have changed in between.
Answer ServedTable::put(std::span<const std::byte> key, std::span<const std::byte> value) {
  const Candidates slots = candidates(key);
  Locks::Numbers groups = groups_of(slots);
  LockHolder holder(locks_);
  for (;;) {
    lock(holder, groups);
    const Room room = room_for(slots, key, groups);
    if (!room.missing_group) {
      return room.chain.empty() ? Answer::table_full : install(room.chain, key, value);
    }
    groups.insert(*room.missing_group);
  }
}

// -------------------------------------------------------------------------------------------------
// Room for a key

ServedTable::Room ServedTable::room_for(const Candidates& candidates,
                                        std::span<const std::byte> key,
                                        const Locks::Numbers& groups) const {
  if (const auto own = find(candidates, key)) return {.chain = {*own}};
  for (const Slot& slot : candidates) {
    if (decode(load(slot.index)).is_empty) return {.chain = {slot.index}};
  }
  return room_by_moving(candidates[0].index, groups);
}

// As a MIGRATE of NessieCD does (4.2.3).
ServedTable::Room ServedTable::room_by_moving(std::uint64_t source,
                                              const Locks::Numbers& groups) const {
  Room room{.chain = {source}};
  while (!decode(load(room.chain.back())).is_empty) {
    const auto next = destination_of(room.chain.back());
    const bool is_circle = next && std::ranges::find(room.chain, *next) != room.chain.end();
    if (!next || is_circle || room.chain.size() > options_.most_migrations) return {};
    if (!groups.contains(group_of(*next))) return {.missing_group = group_of(*next)};
    room.chain.push_back(*next);
  }
  return room;
}

std::optional<std::uint64_t> ServedTable::destination_of(std::uint64_t index) const {
  const auto entry = entry_of(load(index), false);
  if (!entry) return std::nullopt;
  for (const Slot& slot : candidates(entry->key)) {
    if (slot.index != index) return slot.index;
  }
  return std::nullopt;
}

// -------------------------------------------------------------------------------------------------
// Changes

Answer ServedTable::install(const Chain& chain, std::span<const std::byte> key,
                            std::span<const std::byte> value) {
  for (std::size_t number = chain.size() - 1; number > 0; --number) {
    if (!move(chain[number - 1], chain[number])) return Answer::out_of_memory;
  }
  const auto word = write_entry({key.begin(), key.end()}, {value.begin(), value.end()});
  if (!word) return Answer::out_of_memory;
  const std::uint64_t replaced = load(chain.front());
  change(chain.front(), replaced, *word);
  if (!decode(replaced).is_empty) retire(replaced);
  return Answer::stored;
}

// A GET of NessieHY compares words to notice moves, so the entry gets another DTE, and its word
// never returns. In NessieSD, the word itself moves.
bool ServedTable::move(std::uint64_t source, std::uint64_t destination) {
  const std::uint64_t word = load(source);
  std::uint64_t moved = word;
  if (options_.is_hybrid()) {
    const auto entry = entry_of(word, true);
    const auto copy = entry ? write_entry(entry->key, entry->value) : std::nullopt;
    if (!copy) return false;
    moved = *copy;
  }
  ++moves_;
  change(destination, load(destination), moved);
  change(source, word, emptied_word(word, options_));
  if (options_.is_hybrid()) retire(word);
  return true;
}

std::optional<std::uint64_t> ServedTable::write_entry(const Bytes& key, const Bytes& value) {
  const auto entry = data_.allocate();
  if (!entry) return std::nullopt;
  data_.write(*entry, 0, key, value);
  data_.use(*entry);
  data_.set_valid(*entry);
  return index_word(node_, *entry, key, options_);
}

void ServedTable::retire(std::uint64_t word) {
  const std::uint64_t entry = decode(word).data_entry;
  if (options_.is_hybrid()) {
    data_.mark(entry, valid_flag);
  } else {
    data_.release(entry);
  }
}

}  // namespace falafel::nessie
