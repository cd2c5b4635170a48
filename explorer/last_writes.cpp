#include "explorer/last_writes.h"

#include "fabric/fabric.h"

namespace falafel::explorer {

std::optional<LastWrite> LastWrites::write(const fabric::MemoryBlock* block, std::uint64_t offset,
                                           std::uint64_t length_bytes, const LastWrite& by) {
  std::optional<LastWrite> lost;
  const std::uint64_t end = offset + length_bytes;
  for (std::uint64_t word = offset; word < end; word += fabric::word_bytes) {
    LastWrite& last = writes_[{block, word}];
    const bool is_lost = !last.who.empty() && last.who != by.who && !last.was_read;
    if (is_lost && !lost) lost = last;
    last = by;
  }
  return lost;
}

void LastWrites::read(const fabric::MemoryBlock* block, std::uint64_t offset,
                      std::uint64_t length_bytes, const std::string& who) {
  const auto end = writes_.lower_bound({block, offset + length_bytes});
  for (auto found = writes_.lower_bound({block, offset}); found != end; ++found) {
    if (found->second.who != who) found->second.was_read = true;
  }
}

void LastWrites::forget(const fabric::MemoryBlock* block) {
  writes_.erase(writes_.lower_bound({block, 0}), writes_.upper_bound({block, ~std::uint64_t{0}}));
}

}  // namespace falafel::explorer
