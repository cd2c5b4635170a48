// The slots of the index tables that a key may be in, its filter bits (4.1.1, 4.3.2), and the words
// of its entries.
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

// In NessieSD and NessieHY, all of them are on the node of the first one ("partially coupled", 5).
Candidates candidates_of(std::span<const std::byte> key, std::uint64_t nodes,
                         const Options& options);

// The last filter_bits bits of the key's hash.
std::uint64_t filter_of(std::span<const std::byte> key, const Options& options);

// The ITE that refers to this DTE of this node, which has the key.
std::uint64_t index_word(std::uint64_t node, std::uint64_t entry, std::span<const std::byte> key,
                         const Options& options);
// The word of a slot that is emptied, where this word was.
std::uint64_t emptied_word(std::uint64_t word, const Options& options);

}  // namespace falafel::nessie
