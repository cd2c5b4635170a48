// The memory of a node, which is the same on all nodes: the registers, the buffers of all writers,
// the slots of the index, and the keys of all registers.
//
// A register has a record, of which only the first node of a key makes use (data in place), and the
// metadata words. A buffer has a lock, which readers set, and a record. (Authors' code, layout.hpp,
// where keys are part of the data [reading of ours: a table of keys beside the index].)
#pragma once

#include <cstdint>

#include "fabric/fabric.h"
#include "stores/swarm/options.h"
#include "stores/swarm/record.h"
#include "stores/swarm/word.h"

namespace falafel::swarm {

// Buckets of the index have 6 slots. A group is a main bucket with an overflow bucket, which two
// neighbours share (authors' code, buckets.hpp and client_index.hpp, after RACE hashing, Zuo and
// others, USENIX ATC 2021).
inline constexpr std::uint64_t slots_per_bucket = 6;
inline constexpr std::uint64_t slots_per_group = 2 * slots_per_bucket;

class Layout {
 public:
  explicit Layout(const Options& options);

  std::uint64_t content_bytes() const { return content_bytes_; }
  std::uint64_t record_bytes() const { return record_header_bytes + content_bytes_; }
  std::uint64_t words() const { return words_; }
  std::uint64_t registers() const { return registers_; }
  std::uint64_t writers() const { return writers_; }
  std::uint64_t buffers_per_writer() const { return buffers_per_writer_; }
  std::uint64_t buckets() const { return buckets_; }
  std::uint64_t memory_bytes() const { return memory_bytes_; }

  // The record in place, and right behind it the metadata words.
  std::uint64_t register_offset(std::uint64_t number) const { return number * register_bytes(); }
  std::uint64_t words_offset(std::uint64_t number) const {
    return register_offset(number) + record_bytes();
  }
  std::uint64_t word_offset(std::uint64_t number, std::uint64_t writer) const {
    return words_offset(number) + writer % words_ * fabric::word_bytes;
  }
  std::uint64_t lock_offset(Word word) const {
    return buffers_offset_ + (word.writer() * buffers_per_writer_ + word.buffer()) * buffer_bytes();
  }
  std::uint64_t buffer_offset(Word word) const { return lock_offset(word) + fabric::word_bytes; }
  std::uint64_t slot_offset(std::uint64_t slot) const {
    return index_offset_ + slot * fabric::word_bytes;
  }
  std::uint64_t slots() const { return buckets_ * slots_per_bucket; }
  // The length of the key, and the key.
  std::uint64_t key_offset(std::uint64_t number) const {
    return keys_offset_ + number * key_bytes_;
  }
  std::uint64_t key_bytes() const { return key_bytes_; }

 private:
  std::uint64_t register_bytes() const { return record_bytes() + words_ * fabric::word_bytes; }
  std::uint64_t buffer_bytes() const { return fabric::word_bytes + record_bytes(); }

  std::uint64_t content_bytes_;
  std::uint64_t words_;
  std::uint64_t registers_;
  std::uint64_t writers_;
  std::uint64_t buffers_per_writer_;
  std::uint64_t buckets_;
  std::uint64_t key_bytes_;
  std::uint64_t buffers_offset_;
  std::uint64_t index_offset_;
  std::uint64_t keys_offset_;
  std::uint64_t memory_bytes_;
};

}  // namespace falafel::swarm
