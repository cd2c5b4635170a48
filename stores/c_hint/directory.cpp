#include "stores/c_hint/directory.h"

#include <algorithm>

#include "stores/c_hint/layout.h"
#include "stores/c_hint/lease_terms.h"
#include "stores/c_hint/replacement_policies.h"

namespace falafel::c_hint {

DirectoryStatistics& DirectoryStatistics::operator+=(const DirectoryStatistics& other) {
  evictions += other.evictions;
  refusals += other.refusals;
  renewals += other.renewals;
  shorter_leases += other.shorter_leases;
  return *this;
}

Directory::Directory(const Options& options, std::uint64_t first_offset)
    : options_(options),
      first_offset_(first_offset),
      memory_(options.items_bytes, options.min_block_bytes),
      replacement_(make_replacement(options)) {}

const Descriptor* Directory::find(Item item) const {
  const auto found = descriptors_.find(item);
  return found == descriptors_.end() ? nullptr : &found->second;
}

const Descriptor* Directory::find(std::span<const std::byte> key) const {
  const Descriptor* const descriptor = find(hash_of_key(key));
  return descriptor != nullptr && std::ranges::equal(descriptor->key, key) ? descriptor : nullptr;
}

LeaseEnded Directory::lease_ended(std::uint64_t now_ns) const {
  return [this, now_ns](Item item) {
    return may_reclaim(options_, descriptors_.at(item).lease_end_ns, now_ns);
  };
}

// Leases

std::uint64_t Directory::latest_lease_end_ns(const Descriptor& descriptor) const {
  return options_.safeguards.lease_within_life ? descriptor.life_end_ns : fabric::never_ns;
}

// A lease of the same memory may be longer, of an item that was there before.
std::uint64_t Directory::end_of_granted_lease(const Descriptor& descriptor) const {
  return std::min(descriptor.lease_end_ns, latest_lease_end_ns(descriptor));
}

void Directory::grant(Item item, Descriptor& descriptor, std::uint64_t now_ns) {
  const std::uint64_t term_ns = lease_term_ns(options_, replacement_->queue_of(item), used_bytes());
  const std::uint64_t end_ns =
      std::min(end_of_lease(now_ns, term_ns), latest_lease_end_ns(descriptor));
  const bool is_shorter = end_ns < descriptor.lease_end_ns;
  if (is_shorter) ++statistics_.shorter_leases;
  if (is_shorter && options_.safeguards.lease_never_shortens) return;
  descriptor.lease_end_ns = end_ns;
}

const Descriptor& Directory::use(Item item, std::uint64_t accesses, std::uint64_t now_ns) {
  Descriptor& descriptor = descriptors_.at(item);
  replacement_->hit(item, accesses);
  grant(item, descriptor, now_ns);
  replacement_->age(lease_ended(now_ns));
  return descriptor;
}

const Descriptor& Directory::touch(Item item, std::uint64_t now_ns) { return use(item, 1, now_ns); }

const Descriptor& Directory::renew(Item item, std::uint64_t accesses, std::uint64_t now_ns) {
  ++statistics_.renewals;
  return use(item, accesses, now_ns);
}

// Memory

void Directory::reclaim(std::uint64_t now_ns) {
  while (!waiting_.empty() && may_reclaim(options_, waiting_.begin()->first, now_ns)) {
    free(waiting_.begin()->second);
    waiting_.erase(waiting_.begin());
  }
}

void Directory::retire(std::uint64_t offset, std::uint64_t lease_end_ns, std::uint64_t now_ns) {
  if (!options_.safeguards.delayed_reclamation) return free(offset);
  waiting_.emplace(lease_end_ns, offset);
  reclaim(now_ns);
}

bool Directory::evict_one(std::uint64_t now_ns) {
  const LeaseEnded any = [](Item) { return true; };
  const auto victim =
      replacement_->evict(options_.safeguards.eviction_after_lease ? lease_ended(now_ns) : any);
  if (!victim) return false;
  free(descriptors_.at(*victim).offset);
  descriptors_.erase(*victim);
  ++statistics_.evictions;
  return true;
}

std::optional<std::uint64_t> Directory::allocate(std::uint64_t item_bytes, std::uint64_t now_ns) {
  reclaim(now_ns);
  if (item_bytes > memory_.total_bytes()) return std::nullopt;
  while (true) {
    if (const auto offset = memory_.allocate(item_bytes)) return first_offset_ + *offset;
    if (!evict_one(now_ns)) break;
  }
  ++statistics_.refusals;
  return std::nullopt;
}

std::map<std::uint64_t, std::uint64_t> Directory::allocated() const {
  std::map<std::uint64_t, std::uint64_t> allocated;
  for (const auto& [offset, bytes] : memory_.allocated()) {
    allocated.emplace(first_offset_ + offset, bytes);
  }
  return allocated;
}

bool Directory::permits_reads() const {
  const std::uint64_t free_bytes = memory_.free_bytes();
  return memory_.largest_free_bytes() * 100 >= free_bytes * options_.least_contiguous_percent;
}

// Items

const Descriptor& Directory::insert(std::span<const std::byte> key, const Place& place,
                                    std::uint64_t now_ns) {
  const Item item = hash_of_key(key);
  const auto [at, is_new] =
      descriptors_.emplace(item, Descriptor{.key = {key.begin(), key.end()},
                                            .offset = place.offset,
                                            .item_bytes = place.item_bytes,
                                            .version = place.version,
                                            .lease_end_ns = now_ns,
                                            .life_end_ns = place.life_end_ns});
  FALAFEL_ASSERT(is_new, "an item with the hash {} is cached already", item);
  replacement_->insert(item);
  grant(item, at->second, now_ns);
  replacement_->age(lease_ended(now_ns));
  return at->second;
}

const Descriptor& Directory::update(Item item, const Place& place, std::uint64_t now_ns) {
  Descriptor& descriptor = descriptors_.at(item);
  if (place.offset != descriptor.offset) {
    retire(descriptor.offset, descriptor.lease_end_ns, now_ns);
    descriptor.lease_end_ns = now_ns;  // nobody has a pointer to the new memory
  }
  descriptor.offset = place.offset;
  descriptor.item_bytes = place.item_bytes;
  descriptor.version = place.version;
  descriptor.life_end_ns = place.life_end_ns;
  return touch(item, now_ns);
}

void Directory::remove(Item item, std::uint64_t now_ns) {
  const Descriptor& descriptor = descriptors_.at(item);
  retire(descriptor.offset, descriptor.lease_end_ns, now_ns);
  descriptors_.erase(item);
  replacement_->erase(item);
}

}  // namespace falafel::c_hint
