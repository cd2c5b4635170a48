#include "stores/nessie/hashing.h"

#include <algorithm>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace falafel::nessie {

namespace {

// The hash of each way has its own seed. The filter comes from a further one, so that keys that
// share a slot have different filters.
std::uint64_t hash_of(std::span<const std::byte> key, std::uint64_t seed, std::uint32_t number) {
  // Multiples of an odd number differ in many bits, and XXH3 mixes the seed into all of the hash.
  constexpr std::uint64_t distance = 0x9e37'79b9'7f4a'7c15;
  return XXH3_64bits_withSeed(key.data(), key.size(), seed + number * distance);
}

}  // namespace

void Candidates::add(const Slot& slot) {
  if (!contains(slot)) slots_[size_++] = slot;
}

bool Candidates::contains(const Slot& slot) const {
  return std::find(begin(), end(), slot) != end();
}

Candidates candidates_of(std::span<const std::byte> key, std::uint64_t nodes,
                         const Options& options) {
  Candidates candidates;
  for (std::uint32_t way = 0; way < options.ways; ++way) {
    const std::uint64_t place =
        hash_of(key, options.hash_seed, way) % (nodes * options.index_entries);
    const bool is_bound = !options.is_client_driven() && way > 0;
    candidates.add({.node = is_bound ? candidates[0].node : place % nodes, .index = place / nodes});
  }
  return candidates;
}

std::uint64_t filter_of(std::span<const std::byte> key, const Options& options) {
  const std::uint64_t mask = (std::uint64_t{1} << options.filter_bits) - 1;
  return hash_of(key, options.hash_seed, most_ways) & mask;
}

std::uint64_t index_word(std::uint64_t node, std::uint64_t entry, std::span<const std::byte> key,
                         const Options& options) {
  return encode({.data_table = node, .data_entry = entry, .filter = filter_of(key, options)});
}

std::uint64_t emptied_word(std::uint64_t word, const Options& options) {
  if (options.emptied == EmptyWord::constant) return empty_word;
  IndexEntry entry = decode(word);
  entry.is_empty = true;
  return encode(entry);
}

}  // namespace falafel::nessie
