#include "stores/race/search.h"

#include <algorithm>
#include <cstring>

namespace falafel::race {
namespace {

bool is_empty(const SeenSlot& slot) { return slot.word == empty_slot; }

}  // namespace

Search::Search(fabric::Host& host, Connection& connection, const Options& options,
               OperationStatistics& statistics, std::span<const std::byte> key,
               std::uint64_t subtable)
    : host_(host),
      connection_(connection),
      options_(options),
      statistics_(statistics),
      key_(key),
      hash_(hash_of(key, connection.node().hash_seed)),
      choices_(hash_.choices(connection.geometry().subtable.combined_buckets())) {
  host_.spend(fabric::Work::hash, 2 * key.size());
  for (std::size_t number = 0; number < choices_.size(); ++number) {
    buckets_.offsets[number] =
        subtable + connection.geometry().subtable.combined_offset(choices_[number]);
  }
}

bool Search::read(const std::optional<BlockWrite>& write) {
  return connection_.read_buckets(buckets_, write);
}

std::uint64_t Search::Choice::used() const {
  return static_cast<std::uint64_t>(main.size() + overflow.size()) -
         static_cast<std::uint64_t>(std::ranges::count_if(main, is_empty) +
                                    std::ranges::count_if(overflow, is_empty));
}

Search::Choice Search::choice(std::size_t number) const {
  const SubtableLayout& layout = connection_.geometry().subtable;
  Choice slots;
  for (std::uint64_t bucket = 0; bucket < buckets_per_combined; ++bucket) {
    const bool is_main = bucket == SubtableLayout::main_bucket(choices_[number]);
    for (std::uint64_t slot = 0; slot < layout.slots_per_bucket(); ++slot) {
      const std::uint64_t at = layout.bucket_offset(bucket) + SubtableLayout::slot_offset(slot);
      SeenSlot seen{.offset = buckets_.offsets[number] + at};
      std::memcpy(&seen.word, buckets_.bytes[number].data() + at, sizeof seen.word);
      (is_main ? slots.main : slots.overflow).push_back(seen);
    }
  }
  return slots;
}

// The two combined buckets may share a bucket, whose slots count once.
std::vector<SeenSlot> Search::candidates(bool tentative) const {
  std::vector<SeenSlot> found;
  for (std::size_t number = 0; number < 2; ++number) {
    const Choice slots = choice(number);
    for (const auto& bucket : {slots.main, slots.overflow}) {
      std::ranges::copy_if(bucket, std::back_inserter(found), [&](const SeenSlot& seen) {
        const Slot slot = decode(seen.word);
        return has_block(seen.word) && slot.fingerprint == fingerprint() &&
               (tentative || !slot.is_tentative);
      });
    }
  }
  std::ranges::stable_sort(found, {}, &SeenSlot::offset);
  const auto repeated = std::ranges::unique(found, {}, &SeenSlot::offset);
  found.erase(repeated.begin(), repeated.end());
  return found;
}

Look Search::judge(const SeenSlot& slot, const Bytes& block, std::vector<Copy>& copies) {
  host_.spend(fabric::Work::crc64_check, block.size());
  const auto view = parse_block(block);
  const bool is_this_use =
      view && (!options_.safeguards.block_tags || view->tag == decode(slot.word).tag);
  if (!is_this_use || (options_.safeguards.block_checksums && !view->is_right)) {
    ++statistics_.block_retries;
    return Look::changed;
  }
  if (std::ranges::equal(view->key, key_)) {
    copies.push_back({.slot = slot, .value = {view->value.begin(), view->value.end()}});
  } else {
    ++statistics_.other_keys;
  }
  return Look::done;
}

Look Search::find(const Wanted& wanted, std::vector<Copy>& copies) {
  const std::vector<SeenSlot> slots = candidates(wanted.tentative);
  for (std::size_t begin = 0; begin < slots.size(); begin += blocks_at_a_time) {
    const std::size_t count = std::min<std::size_t>(blocks_at_a_time, slots.size() - begin);
    std::vector<Slot> decoded;
    for (std::size_t at = begin; at < begin + count; ++at)
      decoded.push_back(decode(slots[at].word));
    std::vector<Bytes> blocks;
    if (!connection_.read_blocks(decoded, blocks)) return Look::broken;
    for (std::size_t at = 0; at < count; ++at) {
      if (judge(slots[begin + at], blocks[at], copies) == Look::changed) return Look::changed;
      if (!copies.empty() && !wanted.all) return Look::done;
    }
  }
  return Look::done;
}

std::uint32_t Search::local_depth() const {
  BucketHeader header;
  std::memcpy(&header, buckets_.bytes.front().data(), sizeof header);
  return header.local_depth;
}

bool Search::is_in_place() const {
  const SubtableLayout& layout = connection_.geometry().subtable;
  for (const Bytes& bytes : buckets_.bytes) {
    for (std::uint64_t bucket = 0; bucket < buckets_per_combined; ++bucket) {
      BucketHeader header;
      std::memcpy(&header, bytes.data() + layout.bucket_offset(bucket), sizeof header);
      if (hash_.suffix(header.local_depth) != header.suffix) return false;
    }
  }
  return true;
}

std::optional<std::uint64_t> Search::empty_slot() const {
  const Choice first = choice(0);
  const Choice second = choice(1);
  const Choice& less = second.used() < first.used() ? second : first;
  const Choice& more = second.used() < first.used() ? first : second;
  const bool main_first = options_.slot_order == SlotOrder::main_first;
  for (const Choice* slots : {&less, &more}) {
    for (const auto* bucket : {main_first ? &slots->main : &slots->overflow,
                               main_first ? &slots->overflow : &slots->main}) {
      const auto found = std::ranges::find_if(*bucket, is_empty);
      if (found != bucket->end()) return found->offset;
    }
  }
  return std::nullopt;
}

}  // namespace falafel::race
