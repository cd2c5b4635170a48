#include "stores/buddy_allocator.h"

#include <algorithm>
#include <bit>

#include "fabric/fabric.h"

namespace falafel::stores {

BuddyAllocator::BuddyAllocator(std::uint64_t total_bytes, std::uint64_t min_block_bytes)
    : min_block_bytes_(min_block_bytes) {
  const std::uint64_t blocks = total_bytes / min_block_bytes;
  FALAFEL_ASSERT(std::has_single_bit(blocks) && blocks * min_block_bytes == total_bytes,
                 "{} bytes are not blocks of {} bytes times a power of two", total_bytes,
                 min_block_bytes);
  free_.resize(static_cast<std::size_t>(std::countr_zero(blocks)) + 1);
  free_.back().insert(0);
}

std::uint64_t BuddyAllocator::block_bytes_for(std::uint64_t bytes) const {
  const std::uint64_t blocks = (bytes + min_block_bytes_ - 1) / min_block_bytes_;
  return std::bit_ceil(std::max<std::uint64_t>(blocks, 1)) * min_block_bytes_;
}

std::optional<std::uint64_t> BuddyAllocator::allocate(std::uint64_t bytes) {
  if (bytes > total_bytes()) return std::nullopt;
  const std::uint64_t wanted_bytes = block_bytes_for(bytes);
  const auto wanted = static_cast<Order>(std::countr_zero(wanted_bytes / min_block_bytes_));
  Order order = wanted;
  while (order < orders() && free_[order].empty()) ++order;
  if (order == orders()) return std::nullopt;
  const std::uint64_t offset = *free_[order].begin();
  free_[order].erase(free_[order].begin());
  // The lower half of each block is split further, the upper half stays free.
  while (order > wanted) {
    --order;
    free_[order].insert(offset + size_of(order));
  }
  allocated_.emplace(offset, wanted);
  return offset;
}

void BuddyAllocator::free(std::uint64_t offset) {
  const auto found = allocated_.find(offset);
  FALAFEL_ASSERT(found != allocated_.end(), "no block at offset {} is allocated", offset);
  Order order = found->second;
  allocated_.erase(found);
  while (order + 1 < orders() && free_[order].erase(offset ^ size_of(order)) > 0) {
    offset &= ~size_of(order);
    ++order;
  }
  free_[order].insert(offset);
}

void BuddyAllocator::grow() {
  const std::uint64_t old_bytes = total_bytes();
  const bool was_empty = free_.back().erase(0) > 0;
  free_.emplace_back();
  if (was_empty) {
    free_.back().insert(0);
  } else {
    free_[orders() - 2].insert(old_bytes);
  }
}

std::uint64_t BuddyAllocator::free_bytes() const {
  std::uint64_t bytes = 0;
  for (Order order = 0; order < orders(); ++order) bytes += free_[order].size() * size_of(order);
  return bytes;
}

std::uint64_t BuddyAllocator::largest_free_bytes() const {
  for (Order order = orders(); order > 0; --order) {
    if (!free_[order - 1].empty()) return size_of(order - 1);
  }
  return 0;
}

std::map<std::uint64_t, std::uint64_t> BuddyAllocator::allocated() const {
  std::map<std::uint64_t, std::uint64_t> blocks;
  for (const auto& [offset, order] : allocated_) blocks.emplace(offset, size_of(order));
  return blocks;
}

}  // namespace falafel::stores
