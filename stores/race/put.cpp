#include "stores/race/put.h"

#include <utility>

namespace falafel::race {

Answer Put::run() {
  while (client_.ensure_connected()) {
    if (const Step answer = attempt()) {
      if (block_) return_block();
      return *answer;
    }
  }
  return Answer::disconnected;
}

// The block

Put::Step Put::take_block() {
  const std::uint64_t units = units_of(block_bytes_of(key_.size(), value_.size()));
  block_ = client_.pool.take(units);
  if (!block_) {
    const std::uint64_t bytes = client_.connection->node().segment_bytes;
    std::uint64_t offset = 0;
    if (!client_.connection->allocate(bytes, offset)) return std::nullopt;
    if (offset == 0) return Answer::out_of_memory;
    client_.pool.add_segment(offset, bytes);
    block_ = client_.pool.take(units);
  } else if (block_->was_used) {
    ++client_.counts.operation.reused_blocks;
  }
  bytes_ = make_block(key_, value_, block_->tag);
  client_.host.spend(fabric::Work::crc64_update, bytes_.size());
  is_written_ = false;
  return std::nullopt;
}

void Put::return_block() {
  client_.free_block_of(word(false));
  block_.reset();
}

Put::Step Put::lose_block() {
  block_.reset();
  return std::nullopt;
}

Put::Step Put::lose_block_in_doubt() {
  block_.reset();
  return Answer::unknown_outcome;
}

std::uint64_t Put::word(bool is_tentative) const {
  const KeyHash hash = hash_of(key_, client_.connection->node().hash_seed);
  return encode({.fingerprint = hash.fingerprint(client_.connection->node().fingerprint_bits),
                 .units = block_->units,
                 .is_tentative = is_tentative,
                 .tag = block_->tag,
                 .unit = block_->offset / unit_bytes});
}

// The operation

Put::Step Put::attempt() {
  if (!block_) {
    if (const Step problem = take_block()) return problem;
    if (!block_) return std::nullopt;
  }
  Search search = client_.search_for(key_);
  const BlockWrite write{.offset = block_->offset, .bytes = bytes_};
  if (!search.read(is_written_ ? std::nullopt : std::optional(write))) return lose_block();
  is_written_ = true;
  std::vector<Copy> copies;
  switch (search.find({}, copies)) {
    case Look::broken: return lose_block();
    case Look::changed: return std::nullopt;
    case Look::done: break;
  }
  return copies.empty() ? insert(search) : update(copies.front().slot);
}

Put::Step Put::update(const SeenSlot& slot) {
  std::uint64_t found = 0;
  if (!client_.connection->swap(slot.offset, slot.word, word(false), found)) {
    return lose_block_in_doubt();
  }
  if (found != slot.word) {
    client_.back_off();
    return std::nullopt;
  }
  client_.free_block_of(slot.word);
  block_.reset();
  return Answer::stored;
}

// A tentative slot in doubt stores nothing.
Put::Step Put::insert(Search& search) {
  const bool is_tentative = client_.options.safeguards.tentative_inserts;
  const auto slot = search.empty_slot();
  if (!slot) return Answer::table_full;
  std::uint64_t found = 0;
  if (!client_.connection->swap(*slot, empty_slot, word(is_tentative), found)) {
    return is_tentative ? lose_block() : lose_block_in_doubt();
  }
  if (found != empty_slot) {
    client_.back_off();
    return std::nullopt;
  }
  if (is_tentative) return confirm(search, *slot);
  block_.reset();
  return remove_duplicates();
}

// Tentative inserts

Put::Step Put::confirm(Search& search, std::uint64_t slot) {
  const bool looks = client_.options.safeguards.duplicate_removal;
  Rivals rivals = looks ? Rivals::changed : Rivals::none;
  while (rivals == Rivals::changed) rivals = remove_rivals(search, slot);
  if (rivals == Rivals::broken) return lose_block();
  if (rivals == Rivals::stored_copy) return withdraw(slot);
  std::uint64_t found = 0;
  if (!client_.connection->swap(slot, word(true), word(false), found)) {
    return lose_block_in_doubt();
  }
  if (found != word(true)) {  // a rival has removed it
    client_.back_off();
    return std::nullopt;
  }
  block_.reset();
  return Answer::stored;
}

// A rival whose slot is removed cannot confirm it, and keeps its block. Two inserters cannot miss
// each other: the one whose CAS came last sees the slot of the other.
Put::Rivals Put::remove_rivals(Search& search, std::uint64_t slot) {
  if (!search.read()) return Rivals::broken;
  std::vector<Copy> copies;
  switch (search.find({.tentative = true, .all = true}, copies)) {
    case Look::broken: return Rivals::broken;
    case Look::changed: return Rivals::changed;
    case Look::done: break;
  }
  std::erase_if(copies, [&](const Copy& copy) { return copy.slot.offset == slot; });
  client_.counts.operation.duplicates += copies.size();
  for (const Copy& copy : copies) {
    if (!decode(copy.slot.word).is_tentative) return Rivals::stored_copy;
    std::uint64_t found = 0;
    if (!client_.connection->swap(copy.slot.offset, copy.slot.word, empty_slot, found)) {
      return Rivals::broken;
    }
    if (found != copy.slot.word) return Rivals::changed;
  }
  return Rivals::none;
}

Put::Step Put::withdraw(std::uint64_t slot) {
  std::uint64_t found = 0;
  if (!client_.connection->swap(slot, word(true), empty_slot, found)) return lose_block();
  client_.back_off();
  return std::nullopt;
}

// Inserts as published

// The slot is in the table, so the key is stored, whatever the connection does.
Put::Step Put::remove_duplicates() {
  if (!client_.options.safeguards.duplicate_removal) return Answer::stored;
  while (client_.ensure_connected()) {
    Search search = client_.search_for(key_);
    std::vector<Copy> copies;
    if (!search.read() || search.find({.all = true}, copies) != Look::done) continue;
    if (copies.size() <= 1) return Answer::stored;
    client_.counts.operation.duplicates += copies.size() - 1;
    copies.erase(client_.options.kept_copy == KeptCopy::lowest_slot ? copies.begin()
                                                                    : copies.end() - 1);
    bool is_clean = true;
    if (remove_other_copies(copies, is_clean) && is_clean) return Answer::stored;
  }
  return Answer::unknown_outcome;
}

// False: the connection is down.
bool Put::remove_other_copies(const std::vector<Copy>& copies, bool& is_clean) {
  for (const Copy& copy : copies) {
    std::uint64_t found = 0;
    if (!client_.connection->swap(copy.slot.offset, copy.slot.word, empty_slot, found)) {
      return false;
    }
    if (found == copy.slot.word) {
      client_.free_block_of(copy.slot.word);
    } else {
      is_clean = false;
    }
  }
  return true;
}

}  // namespace falafel::race
