#include "stores/two_sided/table.h"

#include <algorithm>
#include <cstring>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace falafel::two_sided {

std::uint64_t bucket_number(std::span<const std::byte> key, std::uint64_t hash_seed,
                            std::uint64_t buckets) {
  return XXH3_64bits_withSeed(key.data(), key.size(), hash_seed) % buckets;
}

Table::Table(fabric::Host& host, const Options& options)
    : host_(host), options_(options), released_(host.create_event()), buckets_(options.buckets) {}

// Operations

std::optional<Bytes> Table::get(std::span<const std::byte> key) {
  Bucket& bucket = bucket_of(key);
  lock(bucket);
  Pair* const pair = hold(bucket, key, Access::shared);
  if (pair == nullptr) {
    unlock(bucket);
    return std::nullopt;
  }
  Bytes value(pair->value_bytes);
  copy(std::span(pair->value).first(value.size()), value.data());
  unlock(*pair);
  return value;
}

bool Table::set(std::span<const std::byte> key, std::span<const std::byte> value) {
  Bucket& bucket = bucket_of(key);
  lock(bucket);
  Pair* const pair = hold(bucket, key, Access::exclusive);
  if (pair == nullptr) {
    const bool is_inserted = insert(bucket, key, value);
    unlock(bucket);
    return is_inserted;
  }
  pair->value_bytes = value.size();
  copy(value, pair->value.data());
  unlock(*pair);
  return true;
}

bool Table::remove(std::span<const std::byte> key) {
  Bucket& bucket = bucket_of(key);
  lock(bucket);
  Pair** const link = find(bucket, key);
  if (link != nullptr) unlink(link);
  unlock(bucket);
  return link != nullptr;
}

void Table::clear() {
  for (Bucket& bucket : buckets_) {
    lock(bucket);
    while (bucket.first != nullptr) unlink(&bucket.first);
    unlock(bucket);
  }
}

// Lists

Table::Bucket& Table::bucket_of(std::span<const std::byte> key) {
  host_.spend(fabric::Work::hash, key.size());
  return buckets_[bucket_number(key, options_.hash_seed, buckets_.size())];
}

// The link to the pair; null if the key is absent. Without mutexes, a list can become a ring, so a
// walk ends after as many steps as there are pairs.
Table::Pair** Table::find(Bucket& bucket, std::span<const std::byte> key) {
  Pair** link = &bucket.first;
  for (std::size_t steps = 0; *link != nullptr && steps < pool_.size(); ++steps) {
    Pair* const pair = *link;
    if (std::ranges::equal(pair->key, key)) return link;
    host_.preemption_point();
    link = &pair->next;
  }
  return nullptr;
}

// The pair, with its lock held and the bucket released. Null: the key is absent, and the bucket is
// still locked.
Table::Pair* Table::hold(Bucket& bucket, std::span<const std::byte> key, Access access) {
  Pair** const link = find(bucket, key);
  if (link == nullptr) return nullptr;
  Pair* const pair = *link;
  if (options_.handover == Handover::pair_then_bucket) {
    lock(*pair, access);
    unlock(bucket);
  } else {
    unlock(bucket);
    host_.preemption_point();
    lock(*pair, access);
  }
  return pair;
}

bool Table::insert(Bucket& bucket, std::span<const std::byte> key,
                   std::span<const std::byte> value) {
  Pair* const pair = allocate();
  if (pair == nullptr) return false;
  pair->key.assign(key.begin(), key.end());
  pair->value_bytes = value.size();
  host_.spend(fabric::Work::copy, value.size());
  std::ranges::copy(value, pair->value.begin());
  pair->next = bucket.first;
  host_.preemption_point();
  bucket.first = pair;
  return true;
}

// Its lock makes sure that nobody uses the pair any more.
void Table::unlink(Pair** link) {
  Pair* const pair = *link;
  lock(*pair, Access::exclusive);
  Pair* const next = pair->next;
  host_.preemption_point();
  *link = next;
  unlock(*pair);
  free_.push_back(pair);
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

void Table::lock(Pair& pair, Access access) {
  if (!options_.safeguards.pair_locks) return;
  if (access == Access::shared) {
    pair.lock.lock_shared(*released_);
  } else {
    pair.lock.lock(*released_);
  }
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
