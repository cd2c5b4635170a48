// The memory of a server: one word per key, then the containers of all writers. It is the same on
// all servers.
//
// A word has 64 bits:
//   63..36  stamp: the version of the key; 0: the key has never been written
//   35..26  writer: the number of the client that chose the stamp
//   25      settled: the writer will not choose another stamp for this value
//   24      absent: the key has been deleted
//   23..0   container: its index
// Words are ordered by stamp, then by writer; of two that are equal in these, the settled one is
// newer. A server's word only ever becomes newer.
//
// A container belongs to one writer, which fills it once. Its words are: a mark, which readers set;
// the length of the value plus one; and the value.
#pragma once

#include <cstdint>
#include <string>

#include "fabric/fabric.h"
#include "stores/replicated/options.h"

namespace falafel::replicated {

class Word {
 public:
  static constexpr std::uint64_t most_stamps = std::uint64_t{1} << 28;
  static constexpr std::uint64_t most_writers = std::uint64_t{1} << 10;
  static constexpr std::uint64_t most_containers = std::uint64_t{1} << 24;

  constexpr Word() = default;
  constexpr explicit Word(std::uint64_t bits) : bits_(bits) {}
  constexpr Word(std::uint64_t stamp, std::uint64_t writer, bool is_absent, std::uint64_t container)
      : bits_(stamp << 36 | writer << 26 | std::uint64_t{is_absent} << 24 | container) {}

  constexpr std::uint64_t bits() const { return bits_; }
  constexpr std::uint64_t stamp() const { return bits_ >> 36; }
  constexpr std::uint64_t writer() const { return bits_ >> 26 & (most_writers - 1); }
  constexpr std::uint64_t container() const { return bits_ & (most_containers - 1); }
  constexpr bool is_settled() const { return (bits_ & settled_bit) != 0; }
  constexpr bool is_absent() const { return (bits_ & absent_bit) != 0; }

  // The identity of the value: stamp and writer.
  constexpr std::uint64_t version() const { return bits_ >> 26; }
  constexpr bool is_newer_than(Word other) const { return bits_ >> 25 > other.bits_ >> 25; }

  constexpr Word settled() const { return Word(bits_ | settled_bit); }
  constexpr Word in_container(std::uint64_t container) const {
    return Word((bits_ & ~(most_containers - 1)) | container);
  }

  friend constexpr bool operator==(Word, Word) = default;

 private:
  static constexpr std::uint64_t settled_bit = std::uint64_t{1} << 25;
  static constexpr std::uint64_t absent_bit = std::uint64_t{1} << 24;

  std::uint64_t bits_ = 0;
};

// "stamp 3 of writer 1 in 12, settled"
std::string describe(Word word);

class Layout {
 public:
  explicit Layout(const Options& options);

  static constexpr std::uint64_t mark_bytes = fabric::word_bytes;
  static constexpr std::uint64_t header_bytes = fabric::word_bytes;

  std::uint64_t keys() const { return keys_; }
  std::uint64_t containers_per_writer() const { return containers_per_writer_; }
  std::uint64_t memory_bytes() const { return memory_bytes_; }

  std::uint64_t word_offset(std::uint64_t key) const { return key * fabric::word_bytes; }
  // The offset of the mark, which comes first.
  std::uint64_t container_offset(std::uint64_t container) const {
    return keys_ * fabric::word_bytes + container * container_bytes_;
  }
  // Without the mark: header and value.
  std::uint32_t content_bytes() const {
    return static_cast<std::uint32_t>(container_bytes_ - mark_bytes);
  }
  std::uint64_t first_container(std::uint32_t writer) const {
    return std::uint64_t{writer} * containers_per_writer_;
  }

 private:
  std::uint64_t keys_;
  std::uint64_t containers_per_writer_;
  std::uint64_t container_bytes_;
  std::uint64_t memory_bytes_;
};

}  // namespace falafel::replicated
