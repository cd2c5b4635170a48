#include "stores/race/block_pool.h"

#include "stores/race/layout.h"

namespace falafel::race {

std::optional<FreeBlock> BlockPool::take(std::uint64_t units) {
  const auto freed = free_.find(units);
  if (freed != free_.end() && !freed->second.empty()) {
    const FreeBlock block = freed->second.back();
    freed->second.pop_back();
    return block;
  }
  const std::uint64_t bytes = units * unit_bytes;
  if (bytes > left_bytes_) return std::nullopt;
  const FreeBlock block{.offset = next_, .units = units};
  next_ += bytes;
  left_bytes_ -= bytes;
  return block;
}

}  // namespace falafel::race
