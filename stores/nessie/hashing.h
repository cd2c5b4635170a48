// Which slots of the index tables a key may be in, and its filter bits (4.1.1, 4.3.2).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "stores/nessie/layout.h"
#include "stores/nessie/options.h"

namespace falafel::nessie {

inline constexpr std::uint32_t most_ways = 8;

// The candidates of a key, in the order of its hashes, each slot once.
class Candidates {
 public:
  void add(const Slot& slot);
  bool contains(const Slot& slot) const;
  std::size_t size() const { return size_; }
  const Slot& operator[](std::size_t number) const { return slots_[number]; }
  const Slot* begin() const { return slots_.data(); }
  const Slot* end() const { return slots_.data() + size_; }

 private:
  std::array<Slot, most_ways> slots_{};
  std::size_t size_ = 0;
};

Candidates candidates_of(std::span<const std::byte> key, std::uint64_t nodes,
                         const Options& options);

// The last filter_bits bits of the key's hash.
std::uint64_t filter_of(std::span<const std::byte> key, const Options& options);

}  // namespace falafel::nessie
