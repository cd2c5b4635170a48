#include "stores/pilaf/hashing.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace falafel::pilaf {

ProbeSequence ProbeSequence::cuckoo(std::span<const std::uint64_t> slots) {
  ProbeSequence sequence;
  for (const std::uint64_t slot : slots) {
    if (!sequence.contains(slot)) sequence.slots_[sequence.size_++] = slot;
  }
  return sequence;
}

ProbeSequence ProbeSequence::linear(std::uint64_t first, std::uint64_t table_entries) {
  ProbeSequence sequence;
  sequence.slots_[0] = first;
  sequence.size_ = sequence.table_entries_ = table_entries;
  return sequence;
}

bool ProbeSequence::contains(std::uint64_t slot) const {
  if (is_linear()) return slot < table_entries_;
  for (std::uint64_t index = 0; index < size_; ++index) {
    if (slots_[index] == slot) return true;
  }
  return false;
}

ProbeSequence slots_of(std::span<const std::byte> key, std::uint64_t seed, std::uint32_t ways,
                       std::uint64_t table_entries) {
  // Multiples of an odd number differ in many bits, and XXH3 mixes the seed into all of the hash.
  constexpr std::uint64_t distance = 0x9e37'79b9'7f4a'7c15;
  std::array<std::uint64_t, most_ways> slots{};
  for (std::uint32_t way = 0; way < ways; ++way) {
    slots[way] =
        XXH3_64bits_withSeed(key.data(), key.size(), seed + way * distance) % table_entries;
  }
  return ways == 1 ? ProbeSequence::linear(slots[0], table_entries)
                   : ProbeSequence::cuckoo(std::span(slots).first(ways));
}

}  // namespace falafel::pilaf
