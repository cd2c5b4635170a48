#include "engine/client/rendezvous_hashing.h"

#include <sodium/crypto_generichash.h>
#include <sodium/crypto_shorthash_siphash24.h>

#include <algorithm>
#include <cstdint>
#include <utility>

#include "fabric/fabric.h"

namespace falafel::engine {
namespace {

std::uint64_t little_endian(std::span<const unsigned char, 8> bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = bytes.size(); i-- > 0;) value = value << 8U | bytes[i];
  return value;
}

}  // namespace

RendezvousHashing::RendezvousHashing(std::span<const std::string_view> servers) {
  static_assert(sizeof(WeightKey) == crypto_shorthash_siphash24_KEYBYTES);
  static_assert(sizeof(WeightKey) >= crypto_generichash_BYTES_MIN);
  FALAFEL_ASSERT(!servers.empty(), "no servers");
  weight_keys_.reserve(servers.size());
  for (const std::string_view server : servers) {
    WeightKey digest{};
    crypto_generichash(digest.data(), digest.size(),
                       reinterpret_cast<const unsigned char*>(server.data()), server.size(),
                       nullptr, 0);
    FALAFEL_ASSERT(std::ranges::count(weight_keys_, digest) == 0, "'{}' is there twice", server);
    weight_keys_.push_back(digest);
  }
}

std::size_t RendezvousHashing::server_of(std::span<const std::byte> key) const {
  const auto weight_of = [key](const WeightKey& weight_key) {
    std::array<unsigned char, crypto_shorthash_siphash24_BYTES> digest{};
    crypto_shorthash_siphash24(digest.data(), reinterpret_cast<const unsigned char*>(key.data()),
                               key.size(), weight_key.data());
    // Equal weights are decided by the digests of the names, so that the order makes no difference.
    return std::pair(little_endian(digest), weight_key);
  };
  const auto server = std::ranges::max_element(weight_keys_, {}, weight_of);
  return static_cast<std::size_t>(server - weight_keys_.begin());
}

}  // namespace falafel::engine
