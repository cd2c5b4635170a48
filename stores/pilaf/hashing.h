// The slots of the table that a key may be in (Pilaf 3.2, 3.4).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace falafel::pilaf {

inline constexpr std::uint32_t most_ways = 3;

// The slots of one key, in the order in which a lookup visits them. With several ways, they are the
// values of as many hashes, each slot once. With one way, they are all slots of the table from the
// value of the hash on (linear probing).
class ProbeSequence {
 public:
  static ProbeSequence cuckoo(std::span<const std::uint64_t> slots);
  static ProbeSequence linear(std::uint64_t first, std::uint64_t table_entries);

  std::uint64_t size() const { return size_; }
  std::uint64_t operator[](std::uint64_t index) const {
    return is_linear() ? (slots_[0] + index) % table_entries_ : slots_[index];
  }
  bool is_linear() const { return table_entries_ != 0; }
  bool contains(std::uint64_t slot) const;

 private:
  std::array<std::uint64_t, most_ways> slots_{};
  std::uint64_t size_ = 0;
  std::uint64_t table_entries_ = 0;  // 0: not linear
};

// `ways` is 1 to most_ways. The hashes are independent: each has its own seed, drawn from `seed`.
ProbeSequence slots_of(std::span<const std::byte> key, std::uint64_t seed, std::uint32_t ways,
                       std::uint64_t table_entries);

}  // namespace falafel::pilaf
