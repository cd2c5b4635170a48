// The slot at which the search for a key starts. The hash is SipHash-2-4 keyed with a secret of the
// server; without the secret, nobody can choose keys that collide.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace falafel::engine {

using HashKey = std::array<std::byte, 16>;

// 64 random bits for each key.
std::uint64_t hash_of(std::span<const std::byte> key, const HashKey& hash_key);

// A key with its hash, which an operation computes once.
struct HashedKey {
  std::span<const std::byte> bytes;
  std::uint64_t hash = 0;

  std::uint64_t home_slot(std::uint64_t table_entries) const { return hash % table_entries; }
};
HashedKey hashed(std::span<const std::byte> key, const HashKey& hash_key);

// The home slot of a key in a table of `table_entries` entries.
std::uint64_t home_slot(std::span<const std::byte> key, const HashKey& hash_key,
                        std::uint64_t table_entries);

}  // namespace falafel::engine
