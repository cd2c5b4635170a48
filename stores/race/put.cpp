#include "stores/race/put.h"

#include <utility>

#include "stores/race/split.h"

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
  auto route = client_.route_for(key_);
  if (!route) return lose_block();
  const BlockWrite write{.offset = block_->offset, .bytes = bytes_};
  std::vector<Copy> copies;
  const Look look =
      client_.find_in(*route, is_written_ ? std::nullopt : std::optional(write), copies);
  if (look == Look::broken) return lose_block();
  is_written_ = true;
  if (look == Look::changed) return std::nullopt;
  if (!copies.empty()) {
    const SeenSlot& slot = copies.front().slot;
    return decode(slot.word).is_frozen ? wait_for_split(*route) : update(slot);
  }
  const bool is_misplaced = client_.options.safeguards.header_checks && !route->own().is_in_place();
  return is_misplaced ? wait_for_split(*route) : insert(*route);
}

Put::Step Put::wait_for_split(Route& route) {
  return client_.wait_for_split(waits_, route.own().hash());
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
Put::Step Put::insert(Route& route) {
  const bool is_tentative = client_.options.safeguards.tentative_inserts;
  const auto slot = route.own().empty_slot();
  if (!slot) return split(route);
  std::uint64_t found = 0;
  if (!client_.connection->swap(*slot, empty_slot, word(is_tentative), found)) {
    return is_tentative ? lose_block() : lose_block_in_doubt();
  }
  if (found != empty_slot) {
    client_.back_off();
    return std::nullopt;
  }
  return is_tentative ? confirm(route, *slot) : remove_duplicates(route, *slot);
}

Put::Step Put::split(Route& route) {
  switch (Split(client_, route.own().hash()).run()) {
    case Split::Outcome::done: return std::nullopt;
    case Split::Outcome::in_progress: return wait_for_split(route);
    case Split::Outcome::full: return Answer::table_full;
    case Split::Outcome::out_of_memory: return Answer::out_of_memory;
    case Split::Outcome::broken: break;
  }
  return lose_block();
}

// Tentative inserts

Put::Step Put::confirm(Route& route, std::uint64_t slot) {
  const bool looks = client_.options.safeguards.duplicate_removal;
  Rivals rivals = looks ? Rivals::changed : Rivals::none;
  while (rivals == Rivals::changed) rivals = remove_rivals(route, slot);
  if (rivals == Rivals::broken) return lose_block();
  if (rivals == Rivals::stored_copy) return withdraw(slot);
  if (rivals == Rivals::misplaced) {
    const Step withdrawn = withdraw(slot);
    return block_ ? wait_for_split(route) : withdrawn;
  }
  std::uint64_t found = 0;
  if (!client_.connection->swap(slot, word(true), word(false), found)) {
    return lose_block_in_doubt();
  }
  if (found != word(true)) {  // a rival or a split has removed it
    client_.back_off();
    return std::nullopt;
  }
  block_.reset();
  return Answer::stored;
}

// A rival whose slot is removed cannot confirm it, and keeps its block. Two inserters cannot miss
// each other: the one whose CAS came last sees the slot of the other.
Put::Rivals Put::remove_rivals(Route& route, std::uint64_t slot) {
  std::vector<Copy> copies;
  for (Search& search : route.searches) {
    if (!search.read()) return Rivals::broken;
    switch (search.find({.tentative = true, .all = true}, copies)) {
      case Look::broken: return Rivals::broken;
      case Look::changed: return Rivals::changed;
      case Look::done: break;
    }
  }
  if (client_.options.safeguards.header_checks && !route.own().is_in_place()) {
    return Rivals::misplaced;
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

// The slot is in the table, so the key is stored, whatever the connection does. A slot that is in
// the wrong subtable by now is taken back, unless a split has moved it.
Put::Step Put::remove_duplicates(Route& route, std::uint64_t slot) {
  const std::uint64_t own_word = word(false);
  const FreeBlock own_block = *block_;
  block_.reset();
  if (!client_.options.safeguards.duplicate_removal) return Answer::stored;
  std::vector<Copy> copies;
  Look look = find_all(route, copies);
  const bool is_misplaced =
      look == Look::done && client_.options.safeguards.header_checks && !route.own().is_in_place();
  if (is_misplaced) {
    std::uint64_t found = 0;
    if (!client_.connection->swap(slot, own_word, empty_slot, found)) {
      return Answer::unknown_outcome;
    }
    if (found != own_word) return Answer::stored;
    block_ = own_block;
    return wait_for_split(route);
  }
  while (look != Look::done || !remove_other_copies(copies)) {
    if (!client_.ensure_connected()) return Answer::unknown_outcome;
    auto again = client_.route_for(key_);
    look = again ? find_all(*again, copies) : Look::broken;
  }
  return Answer::stored;
}

Look Put::find_all(Route& route, std::vector<Copy>& copies) {
  copies.clear();
  for (Search& search : route.searches) {
    if (!search.read()) return Look::broken;
    const Look look = search.find({.all = true}, copies);
    if (look != Look::done) return look;
  }
  return Look::done;
}

// False: another client has changed one of them, or the connection is down.
bool Put::remove_other_copies(std::vector<Copy>& copies) {
  if (copies.size() <= 1) return true;
  client_.counts.operation.duplicates += copies.size() - 1;
  copies.erase(client_.options.kept_copy == KeptCopy::lowest_slot ? copies.begin()
                                                                  : copies.end() - 1);
  for (const Copy& copy : copies) {
    std::uint64_t found = 0;
    if (!client_.connection->swap(copy.slot.offset, copy.slot.word, empty_slot, found)) {
      return false;
    }
    if (found != copy.slot.word) return false;
    client_.free_block_of(copy.slot.word);
  }
  return true;
}

}  // namespace falafel::race
