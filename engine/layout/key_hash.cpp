#include "engine/layout/key_hash.h"

#include <sodium/crypto_shorthash_siphash24.h>

#include <cstring>

namespace falafel::engine {

static_assert(crypto_shorthash_siphash24_KEYBYTES == sizeof(HashKey));

std::uint64_t hash_of(std::span<const std::byte> key, const HashKey& hash_key) {
  std::array<unsigned char, crypto_shorthash_siphash24_BYTES> digest{};
  crypto_shorthash_siphash24(digest.data(), reinterpret_cast<const unsigned char*>(key.data()),
                             key.size(), reinterpret_cast<const unsigned char*>(hash_key.data()));
  std::uint64_t hash = 0;
  std::memcpy(&hash, digest.data(), sizeof hash);
  return hash;
}

HashedKey hashed(std::span<const std::byte> key, const HashKey& hash_key) {
  return {.bytes = key, .hash = hash_of(key, hash_key)};
}

std::uint64_t home_slot(std::span<const std::byte> key, const HashKey& hash_key,
                        std::uint64_t table_entries) {
  return hashed(key, hash_key).home_slot(table_entries);
}

}  // namespace falafel::engine
