#include "stores/c_hint/shard.h"

#include <algorithm>

#include "stores/c_hint/lease_terms.h"

namespace falafel::c_hint {

ShardStatistics& ShardStatistics::operator+=(const ShardStatistics& other) {
  hits += other.hits;
  misses += other.misses;
  expirations += other.expirations;
  reports += other.reports;
  in_place_updates += other.in_place_updates;
  return *this;
}

std::uint64_t Shard::lease_clock_ns() {
  return options_.lease_in_reply == LeaseForm::term ? host_.now_ns() : host_.wall_clock_ns();
}

// Replies

std::uint64_t Shard::lease_for_reply(const Descriptor& descriptor, std::uint64_t now_ns) const {
  const std::uint64_t end_ns = directory_.end_of_granted_lease(descriptor);
  if (options_.lease_in_reply == LeaseForm::absolute_end || end_ns == fabric::never_ns) {
    return end_ns;
  }
  return end_ns - std::min(now_ns, end_ns);
}

RemotePointer Shard::pointer_to(const Descriptor* descriptor) {
  if (descriptor == nullptr || !directory_.permits_reads()) return {};
  return {.offset = descriptor->offset,
          .item_bytes = descriptor->item_bytes,
          .version = descriptor->version,
          .lease_ns = lease_for_reply(*descriptor, lease_clock_ns())};
}

std::vector<std::byte> Shard::value_of(const Descriptor& descriptor) {
  std::vector<std::byte> item(descriptor.item_bytes);
  memory_.read(descriptor.offset, item);
  spend_on(item.size());
  const auto view = parse_item(verifier_, item);
  FALAFEL_ASSERT(view && std::ranges::equal(view->key, descriptor.key),
                 "the item at {} is not that of its descriptor", descriptor.offset);
  return {view->value.begin(), view->value.end()};
}

// Items

// The time that it takes to copy an item, and to compute its checksum.
void Shard::spend_on(std::uint64_t item_bytes) {
  host_.spend(fabric::Work::copy, item_bytes);
  if (options_.uses_checksums()) host_.spend(fabric::Work::crc64_update, item_bytes);
}

void Shard::mark_deleted(const Descriptor& descriptor) {
  if (!options_.safeguards.deleted_marks) return;
  memory_.store(descriptor.offset + state_offset, static_cast<std::uint64_t>(ItemState::deleted));
}

// Null: nothing happens.
void Shard::drop(const Descriptor* descriptor) {
  if (descriptor == nullptr) return;
  mark_deleted(*descriptor);
  directory_.remove(hash_of_key(descriptor->key), lease_clock_ns());
}

// Lives end by the wall clock, because the backend and the next server know them, too. The time
// between the two looks at clocks makes a life shorter.
std::uint64_t Shard::life_end_by_lease_clock(std::uint64_t life_end_ns) {
  if (life_end_ns == fabric::never_ns) return life_end_ns;
  const std::uint64_t now_ns = lease_clock_ns();
  return now_ns + life_end_ns - std::min(host_.wall_clock_ns(), life_end_ns);
}

// Null: there is none, or its life had ended, and it is gone now.
const Descriptor* Shard::unless_expired(const Descriptor* descriptor) {
  if (descriptor == nullptr || lease_clock_ns() < descriptor->life_end_ns) return descriptor;
  ++statistics_.expirations;
  drop(descriptor);
  return nullptr;
}

// Both versions are odd before the first other word changes, and even after the last one has.
const Descriptor* Shard::change_in_place(const Descriptor& old, std::span<const std::byte> key,
                                         const BackendValue& value) {
  const std::uint64_t odd = old.version + 1;
  memory_.store(old.offset, odd);
  if (verifier_.verification == Verification::versions) {
    memory_.store(old.offset + last_word_offset(old.item_bytes), odd);
  }
  last_version_ += 2;
  const std::vector<std::byte> item = make_item(verifier_, last_version_, key, value.bytes);
  spend_on(item.size());
  memory_.write(old.offset + fabric::word_bytes, std::span(item).subspan(fabric::word_bytes));
  memory_.store(old.offset, last_version_);
  ++statistics_.in_place_updates;
  return &directory_.update(hash_of_key(key),
                            {.offset = old.offset,
                             .item_bytes = item.size(),
                             .version = last_version_,
                             .life_end_ns = life_end_by_lease_clock(value.life_end_ns)},
                            lease_clock_ns());
}

// Null if there is no room. With a backend, the key is not cached then; without one, it is as it
// was.
const Descriptor* Shard::cache(std::span<const std::byte> key, const BackendValue& value) {
  const Item hash = hash_of_key(key);
  const Descriptor* old = directory_.find(hash);
  if (old != nullptr && !std::ranges::equal(old->key, key)) {
    drop(old);  // another key of the same hash
    old = nullptr;
  }
  const std::uint64_t item_bytes = item_bytes_of(key.size(), value.bytes.size());
  if (old != nullptr && options_.update == Update::in_place_if_it_fits &&
      item_bytes <= directory_.block_bytes_for(old->item_bytes)) {
    return change_in_place(*old, key, value);
  }
  const auto offset = directory_.allocate(item_bytes, lease_clock_ns());
  if (!offset) {
    if (backend_ != nullptr) drop(directory_.find(key));
    return nullptr;
  }
  last_version_ += 2;
  spend_on(item_bytes);
  memory_.write(*offset, make_item(verifier_, last_version_, key, value.bytes));
  const Place place{.offset = *offset,
                    .item_bytes = item_bytes,
                    .version = last_version_,
                    .life_end_ns = life_end_by_lease_clock(value.life_end_ns)};
  old = directory_.find(hash);  // it may have been evicted
  if (old == nullptr) return &directory_.insert(key, place, lease_clock_ns());
  mark_deleted(*old);
  return &directory_.update(hash, place, lease_clock_ns());
}

// Requests

ShardReply Shard::get(std::span<const std::byte> key) {
  if (unless_expired(directory_.find(key)) != nullptr) {
    ++statistics_.hits;
    const Descriptor& descriptor = directory_.touch(hash_of_key(key), lease_clock_ns());
    std::vector<std::byte> value = value_of(descriptor);
    return {.status = ReplyStatus::found,
            .pointer = pointer_to(&descriptor),
            .value = std::move(value)};
  }
  ++statistics_.misses;
  if (backend_ == nullptr) return {.status = ReplyStatus::not_found};
  auto value = backend_->get(host_, key);
  if (!value || host_.wall_clock_ns() >= value->life_end_ns) {
    return {.status = ReplyStatus::not_found};
  }
  const RemotePointer pointer = pointer_to(cache(key, *value));
  return {.status = ReplyStatus::found, .pointer = pointer, .value = std::move(value->bytes)};
}

ShardReply Shard::set(std::span<const std::byte> key, std::span<const std::byte> bytes,
                      std::uint64_t life_ns) {
  const BackendValue value{.bytes = {bytes.begin(), bytes.end()},
                           .life_end_ns = life_ns == 0
                                              ? fabric::never_ns
                                              : end_of_lease(host_.wall_clock_ns(), life_ns)};
  const bool writes_through = backend_ != nullptr && options_.safeguards.write_through;
  if (writes_through) backend_->set(host_, key, value);
  const Descriptor* const descriptor = cache(key, value);
  if (descriptor == nullptr && backend_ == nullptr) return {.status = ReplyStatus::out_of_memory};
  if (descriptor == nullptr && !writes_through) backend_->set(host_, key, value);
  return {.status = ReplyStatus::stored, .pointer = pointer_to(descriptor)};
}

ShardReply Shard::remove(std::span<const std::byte> key) {
  const bool was_behind = backend_ != nullptr && backend_->remove(host_, key);
  const Descriptor* const cached = unless_expired(directory_.find(key));
  const bool was_cached = cached != nullptr;
  drop(cached);
  return {.status = was_behind || was_cached ? ReplyStatus::deleted : ReplyStatus::not_found};
}

void Shard::report(ReportProgress& report) {
  ++statistics_.reports;
  const std::uint64_t end_ns = host_.now_ns() + report.budget_left_ns;
  for (std::size_t number = 0; number < report.entries.size() && host_.now_ns() < end_ns;
       ++number) {
    const ReportEntry& entry = report.entries[number];
    if (shard_of(entry.hash, options_.shards) != number_) continue;
    const Descriptor* descriptor = unless_expired(directory_.find(entry.hash));
    if (descriptor == nullptr || descriptor->version != entry.version) continue;
    const std::uint64_t now_ns = lease_clock_ns();
    descriptor = &directory_.renew(entry.hash, entry.accesses, now_ns);
    report.leases[number].lease_ns = lease_for_reply(*descriptor, now_ns);
  }
  report.budget_left_ns = end_ns - std::min(host_.now_ns(), end_ns);
}

}  // namespace falafel::c_hint
