#include "fabric/shm/key_table.h"

#include <new>

#include "fabric/shm/key_entry.h"

namespace falafel::shm {

using fabric::ErrorCode;
using fabric::make_error;
using fabric::Result;

namespace {

// The table grows by this many entries at a time.
constexpr std::uint32_t entries_of_a_page = 4096 / sizeof(KeyEntry);
static_assert(key_table_offset % 4096 == 0 && max_keys % entries_of_a_page == 0);

std::uint64_t control_word(std::uint32_t key, fabric::Access access) {
  return std::uint64_t{key} << rights::bits | (access.local_write ? rights::local_write : 0U) |
         (access.remote_read ? rights::remote_read : 0U) |
         (access.remote_write ? rights::remote_write : 0U) |
         (access.remote_atomic ? rights::remote_atomic : 0U);
}

constexpr std::uint32_t index_of(std::uint32_t key) { return key % max_keys; }

}  // namespace

bool KeyCache::learn(std::uint32_t key, Known& known) const {
  if (index_of(key) >= arena_->header().key_entries.load(std::memory_order_acquire)) return false;
  const KeyEntry& entry = arena_->key_entry(index_of(key));
  const std::optional<KeyFields> fields = sample_key(entry);
  if (!fields || fields->control >> rights::bits != key || key == 0) return false;
  if (fields->domain != domain_ || !arena_->reaches(fields->block, fields->end)) return false;
  known = {.word = &entry.control,
           .control = fields->control,
           .begin = fields->begin,
           .end = fields->end,
           .block = arena_->at(fields->block)};
  return true;
}

Lookup KeyCache::look_up_anew(std::uint32_t key, std::uint64_t offset, std::uint64_t length_bytes,
                              std::uint64_t right) {
  Known& known = known_[key % entries];
  if (!learn(key, known)) return {};
  return known.look_up(offset, length_bytes, right);
}

KeyEntry& KeyTable::entry_of(std::uint32_t key) const {
  return arena_.mapping()->key_entry(index_of(key));
}

bool KeyTable::make_room_for(std::uint32_t index) const {
  std::atomic<std::uint32_t>& entries = arena_.mapping()->header().key_entries;
  if (index < entries.load()) return true;
  if (!arena_.populate(key_table_offset + index * sizeof(KeyEntry),
                       entries_of_a_page * sizeof(KeyEntry)))
    return false;
  entries.store(index + entries_of_a_page, std::memory_order_release);
  return true;
}

Result<std::uint32_t> KeyTable::take_index() {
  if (generations_.size() < max_keys) {
    const auto index = static_cast<std::uint32_t>(generations_.size());
    if (!make_room_for(index)) {
      return make_error(ErrorCode::out_of_memory, "the system has no memory left for another key");
    }
    generations_.push_back(0);
    return index;
  }
  if (unused_.empty()) {
    return make_error(ErrorCode::out_of_memory,
                      fmt::format("all {} keys of the process are in use", max_keys));
  }
  const std::uint32_t index = unused_.front();
  unused_.pop_front();
  return index;
}

Result<std::uint32_t> KeyTable::add(const Region& region) {
  const std::lock_guard lock(mutex_);
  Result<std::uint32_t> taken = take_index();
  if (!taken) return taken;
  const std::uint32_t index = *taken;
  if (++generations_[index] == 0) generations_[index] = 1;  // no key is 0
  const std::uint32_t key = std::uint32_t{generations_[index]} << key_index_bits | index;
  KeyEntry& entry = entry_of(key);
  FALAFEL_ASSERT(entry.control.load() == 0, "key {:#x}: the entry of index {} is in use", key,
                 index);
  publish_key(entry, {.control = control_word(key, region.access),
                      .domain = region.domain,
                      .block = region.block,
                      .begin = region.offset,
                      .end = region.offset + region.length_bytes});
  return key;
}

void KeyTable::change_access(std::uint32_t key, fabric::Access access) {
  KeyEntry& entry = entry_of(key);
  FALAFEL_ASSERT(entry.control.load() >> rights::bits == key, "key {:#x} is not valid", key);
  entry.control.store(control_word(key, access));
}

void KeyTable::revoke(std::uint32_t key) {
  KeyEntry& entry = entry_of(key);
  const std::uint64_t control = entry.control.load();
  FALAFEL_ASSERT(control == 0 || control >> rights::bits == key,
                 "key {:#x} is revoked, but its entry holds key {:#x}", key,
                 control >> rights::bits);
  entry.control.store(0);
}

void KeyTable::remove(std::uint32_t key) noexcept {
  revoke(key);
  const std::lock_guard lock(mutex_);
  try {
    unused_.push_back(index_of(key));
  } catch (const std::bad_alloc&) {
    // Nobody remembers the index, so it is not used again.
  }
}

}  // namespace falafel::shm
