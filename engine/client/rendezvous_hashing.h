// Spreads keys over several servers by rendezvous hashing (D. Thaler and C. Ravishankar, "Using
// Name-Based Mappings to Increase Hit Rates", IEEE/ACM Transactions on Networking 6(1), 1998): each
// server has a weight for each key, and a key belongs to the server with the highest weight.
//
// Clients need nothing but the servers' names to agree. When a server joins or leaves, only the
// keys move that belong to it.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

namespace falafel::engine {

class RendezvousHashing {
 public:
  // Requires at least one name, and no name twice. The order of the names makes no difference to
  // which server a key belongs to.
  explicit RendezvousHashing(std::span<const std::string_view> servers);

  // The index of the key's server. The same in all versions and on all machines, because clients of
  // different versions share servers.
  std::size_t server_of(std::span<const std::byte> key) const;

 private:
  // SipHash, keyed with a digest of the server's name, gives the weights.
  using WeightKey = std::array<unsigned char, 16>;
  std::vector<WeightKey> weight_keys_;
};

}  // namespace falafel::engine
