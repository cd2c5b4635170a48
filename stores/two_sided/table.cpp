#include "stores/two_sided/table.h"

#include <algorithm>
#include <cstring>

namespace falafel::two_sided {

std::uint64_t bucket_number(std::span<const std::byte> key, std::uint64_t buckets) {
  std::uint32_t hash = 5'381;
  for (const std::byte byte : key) hash = hash * 33 + std::to_integer<std::uint32_t>(byte);
  return hash % buckets;
}

Table::Table(fabric::Host& host, const Options& options)
    : host_(host), options_(options), released_(host.create_event()), buckets_(options.buckets) {}

// Operations

GetOutcome Table::get(std::span<const std::byte> key) {
  Bucket& bucket = bucket_of(key);
  Bucket* const locked = options_.safeguards.lookup_mutexes ? &bucket : nullptr;
  if (locked != nullptr) lock(*locked);
  Pair** const link = find(bucket, key);
  if (link == nullptr) {
    if (locked != nullptr) unlock(*locked);
    return {};
  }
  Pair& pair = **link;
  if (!lock_and_release(pair, Access::shared, locked)) return {.answer = TableAnswer::busy};
  GetOutcome outcome{.answer = TableAnswer::done, .value = Bytes(pair.value_bytes)};
  copy(std::span(pair.value).first(outcome.value.size()), outcome.value.data());
  unlock(pair);
  return outcome;
}

TableAnswer Table::set(std::span<const std::byte> key, std::span<const std::byte> value) {
  Bucket& bucket = bucket_of(key);
  lock(bucket);
  Pair** const link = find(bucket, key);
  Pair* const pair = link == nullptr ? insert(bucket, key) : *link;
  if (pair == nullptr) {
    unlock(bucket);
    return TableAnswer::full;
  }
  if (!lock_and_release(*pair, Access::exclusive, &bucket)) return TableAnswer::busy;
  copy(value, pair->value.data());
  pair->value_bytes = value.size();
  unlock(*pair);
  return TableAnswer::done;
}

TableAnswer Table::remove(std::span<const std::byte> key) {
  Bucket& bucket = bucket_of(key);
  lock(bucket);
  Pair** const link = find(bucket, key);
  const bool is_unlinked = link != nullptr && unlink(link);
  unlock(bucket);
  if (link == nullptr) return TableAnswer::absent;
  return is_unlinked ? TableAnswer::done : TableAnswer::busy;
}

void Table::clear() {
  for (Bucket& bucket : buckets_) {
    lock(bucket);
    while (bucket.first != nullptr && unlink(&bucket.first)) {
    }
    unlock(bucket);
  }
}

// Lists

Table::Bucket& Table::bucket_of(std::span<const std::byte> key) {
  host_.spend(fabric::Work::hash, key.size());
  return buckets_[bucket_number(key, buckets_.size())];
}

// The link to the pair; null if the key is absent. Without mutexes, a list can become a ring, so a
// walk ends after as many steps as there are pairs.
Table::Pair** Table::find(Bucket& bucket, std::span<const std::byte> key) {
  Pair** link = &bucket.first;
  for (std::size_t steps = 0; *link != nullptr && steps < pool_.size(); ++steps) {
    Pair* const pair = *link;
    host_.spend(fabric::Work::list_step, pairs());
    if (has_key(*pair, key)) return link;
    host_.preemption_point();
    link = &pair->next;
  }
  return nullptr;
}

// The program compares as many bytes as the key of the request has.
bool Table::has_key(const Pair& pair, std::span<const std::byte> key) const {
  if (options_.safeguards.whole_keys) return std::ranges::equal(pair.key, key);
  return pair.key.size() >= key.size() &&
         std::ranges::equal(std::span(pair.key).first(key.size()), key);
}

// Takes the pair's lock and releases the bucket, if any. False: the pair is busy, and the bucket is
// released all the same.
bool Table::lock_and_release(Pair& pair, Access access, Bucket* bucket) {
  if (bucket != nullptr && options_.safeguards.pair_before_bucket) {
    const bool is_locked = lock(pair, access);
    unlock(*bucket);
    return is_locked;
  }
  if (bucket != nullptr) unlock(*bucket);
  host_.preemption_point();
  return lock(pair, access);
}

// The pair has no value yet. Null: there are most_pairs pairs.
Table::Pair* Table::insert(Bucket& bucket, std::span<const std::byte> key) {
  Pair* const pair = allocate();
  if (pair == nullptr) return nullptr;
  pair->key.assign(key.begin(), key.end());
  pair->value_bytes = 0;
  pair->next = bucket.first;
  host_.preemption_point();
  bucket.first = pair;
  return pair;
}

// Its lock makes sure that nobody uses the pair any more. False: the pair is busy.
bool Table::unlink(Pair** link) {
  Pair* const pair = *link;
  if (!lock(*pair, Access::exclusive)) return false;
  Pair* const next = pair->next;
  host_.preemption_point();
  *link = next;
  unlock(*pair);
  free_.push_back(pair);
  return true;
}

Table::Pair* Table::allocate() {
  if (free_.empty()) {
    return pool_.size() == options_.most_pairs ? nullptr : &pool_.emplace_back();
  }
  Pair* const pair = free_.back();
  free_.pop_back();
  return pair;
}

void Table::copy(std::span<const std::byte> source, std::byte* destination) {
  host_.spend(fabric::Work::copy, source.size());
  for (std::size_t offset = 0; offset < source.size(); offset += fabric::word_bytes) {
    host_.preemption_point();
    const std::size_t bytes = std::min<std::size_t>(fabric::word_bytes, source.size() - offset);
    std::memcpy(destination + offset, source.data() + offset, bytes);
  }
}

// Locks

void Table::lock(Bucket& bucket) {
  if (options_.safeguards.bucket_mutexes) bucket.mutex.lock(*released_);
}

void Table::unlock(Bucket& bucket) {
  if (options_.safeguards.bucket_mutexes) bucket.mutex.unlock(*released_);
}

// False: the pair is busy.
bool Table::lock(Pair& pair, Access access) {
  if (!options_.safeguards.pair_locks) return true;
  const bool is_shared = access == Access::shared;
  if (!options_.safeguards.waiting_locks) {
    return is_shared ? pair.lock.try_lock_shared() : pair.lock.try_lock();
  }
  if (is_shared) {
    pair.lock.lock_shared(*released_);
  } else {
    pair.lock.lock(*released_);
  }
  return true;
}

void Table::unlock(Pair& pair) {
  if (options_.safeguards.pair_locks) pair.lock.unlock(*released_);
}

// Inspection

std::uint64_t Table::memory_bytes() const {
  std::uint64_t bytes = buckets_.size() * sizeof(Bucket) + pool_.size() * sizeof(Pair);
  for (const Pair& pair : pool_) bytes += pair.key.size();
  return bytes;
}

TableInspection Table::inspect() const {
  TableInspection inspection;
  inspection.keys.reserve(buckets_.size());
  for (const Bucket& bucket : buckets_) {
    std::vector<Bytes>& keys = inspection.keys.emplace_back();
    const Pair* pair = bucket.first;
    for (; pair != nullptr && keys.size() < pool_.size(); pair = pair->next) {
      keys.push_back(pair->key);
    }
    if (pair != nullptr) ++inspection.rings;
    if (bucket.mutex.is_held()) ++inspection.locks_held;
  }
  for (const Pair& pair : pool_) {
    if (pair.lock.is_held()) ++inspection.locks_held;
  }
  return inspection;
}

}  // namespace falafel::two_sided
