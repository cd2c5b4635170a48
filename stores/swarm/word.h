// The metadata word of SWARM: a timestamp and the place of a buffer, so that one compare-and-swap
// publishes a value and its version. Fields and their widths are those of the authors' code
// (tspointers.hpp):
//   63..32  timestamp
//   31..8   buffer: its number among those of the writer
//   7..1    writer: the number of the client
//   0       verified: the timestamp is known not to be stale
// Words are ordered as numbers. Zero: the register has never been written.
#pragma once

#include <cstdint>
#include <string>

namespace falafel::swarm {

class Word {
 public:
  static constexpr std::uint64_t most_timestamps = std::uint64_t{1} << 32;
  static constexpr std::uint64_t most_buffers = std::uint64_t{1} << 24;
  static constexpr std::uint64_t most_writers = std::uint64_t{1} << 7;

  constexpr Word() = default;
  constexpr explicit Word(std::uint64_t bits) : bits_(bits) {}
  constexpr Word(std::uint64_t timestamp, std::uint64_t buffer, std::uint64_t writer)
      : bits_(timestamp << 32 | buffer << 8 | writer << 1) {}

  constexpr std::uint64_t bits() const { return bits_; }
  constexpr std::uint64_t timestamp() const { return bits_ >> 32; }
  constexpr std::uint64_t buffer() const { return bits_ >> 8 & (most_buffers - 1); }
  constexpr std::uint64_t writer() const { return bits_ >> 1 & (most_writers - 1); }
  constexpr bool is_verified() const { return (bits_ & 1) != 0; }
  constexpr bool is_empty() const { return bits_ == 0; }

  constexpr Word verified() const { return Word(bits_ | 1); }
  // The buffer and its writer, which do not change when a value gets another timestamp.
  constexpr std::uint64_t identity() const { return bits_ & 0xffff'fffe; }
  constexpr bool is_same_version(Word other) const { return (bits_ | 1) == (other.bits_ | 1); }

  friend constexpr auto operator<=>(Word, Word) = default;

 private:
  std::uint64_t bits_ = 0;
};

// "timestamp 3 of writer 1 in buffer 12, verified"
std::string describe(Word word);

}  // namespace falafel::swarm
