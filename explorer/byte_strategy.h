// Answers questions from a string of bytes that a fuzzer provides, so that a change of the string
// changes the schedule. Answers beyond the end of the string are pseudorandom numbers that depend
// on the whole string, so that a short string is also a complete schedule. Questions for 64-bit
// numbers are answered the same way, because programs use them as unique identifiers, and a string
// that repeats one would only reveal that.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

#include "fabric/random.h"
#include "fabric/sim/strategies/strategy.h"

namespace falafel::explorer {

class ByteStrategy final : public sim::Strategy {
 public:
  // The bytes must outlive the strategy.
  explicit ByteStrategy(std::span<const std::uint8_t> bytes)
      : bytes_(bytes), tail_(seed_of(bytes)) {}

  std::uint64_t choose(const sim::ChoicePoint& point) override { return below(point.bound); }
  std::uint64_t schedule(const sim::ChoicePoint& /*point*/,
                         std::span<const sim::ActorId> actors) override {
    return below(actors.size());
  }

 private:
  // Uses FNV-1a.
  static std::uint64_t seed_of(std::span<const std::uint8_t> bytes) {
    std::uint64_t hash = 0xcbf29ce484222325;
    for (const std::uint8_t byte : bytes) hash = (hash ^ byte) * 0x100000001b3;
    return hash;
  }

  std::uint64_t below(std::uint64_t bound) {
    if (bound == 0) return tail_.next();
    const std::size_t width = (std::bit_width(bound - 1) + 7U) / 8;
    if (position_ + width > bytes_.size()) {
      position_ = bytes_.size();
      return tail_.below(bound);
    }
    std::uint64_t answer = 0;
    for (std::size_t index = 0; index < width; ++index) {
      answer = answer << 8 | bytes_[position_++];
    }
    return answer % bound;
  }

  std::span<const std::uint8_t> bytes_;
  std::size_t position_ = 0;
  fabric::RandomGenerator tail_;
};

}  // namespace falafel::explorer
