// Allocates ranges of a store's memory: a buddy allocator of blocks whose sizes are powers of two
// (Knuth, The Art of Computer Programming 2.5), with a smallest size. Pilaf uses SQLite's mem5,
// which is one (Pilaf 4).
//
// A block of size s is at a multiple of s. Its buddy is the other half of the block of twice its
// size. An allocation splits the smallest free block that is large enough, and the lowest one of
// that size; freeing a block merges it with its buddy for as long as that is free.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

namespace falafel::stores {

class BuddyAllocator {
 public:
  // `total_bytes` is a multiple of `min_block_bytes` by a power of two.
  BuddyAllocator(std::uint64_t total_bytes, std::uint64_t min_block_bytes);

  // The offset of a block of at least this number of bytes; nothing if there is no such block.
  std::optional<std::uint64_t> allocate(std::uint64_t bytes);
  // `offset` was returned by allocate().
  void free(std::uint64_t offset);
  // Doubles the memory; what is allocated stays where it is.
  void grow();

  std::uint64_t total_bytes() const { return size_of(orders() - 1); }
  std::uint64_t free_bytes() const;
  // The size of the largest free block; 0 if none is free.
  std::uint64_t largest_free_bytes() const;
  // The sizes of the allocated blocks, by offset.
  std::map<std::uint64_t, std::uint64_t> allocated() const;
  // The size of the block that a request for `bytes` gets.
  std::uint64_t block_bytes_for(std::uint64_t bytes) const;

 private:
  using Order = std::size_t;  // a block of order n has the smallest size times 2^n

  std::uint64_t size_of(Order order) const { return min_block_bytes_ << order; }
  Order orders() const { return free_.size(); }

  std::uint64_t min_block_bytes_;
  std::vector<std::set<std::uint64_t>> free_;  // offsets of free blocks, by order
  std::map<std::uint64_t, Order> allocated_;   // by offset
};

}  // namespace falafel::stores
