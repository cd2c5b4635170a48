// The last write of each word of memory, and whether anybody else has read the word since. A write
// over one that nobody has read is how updates get lost.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>

namespace falafel::fabric {
class MemoryBlock;
}  // namespace falafel::fabric

namespace falafel::explorer {

struct LastWrite {
  std::string who;
  std::uint64_t step = 0;
  bool was_read = false;  // by somebody else
};

class LastWrites {
 public:
  // Notes a write of the words that begin within the range. Returns the first of the writes that it
  // takes away which is of somebody else and was not read.
  std::optional<LastWrite> write(const fabric::MemoryBlock* block, std::uint64_t offset,
                                 std::uint64_t length_bytes, const LastWrite& by);
  void read(const fabric::MemoryBlock* block, std::uint64_t offset, std::uint64_t length_bytes,
            const std::string& who);
  // The block is new, or another one at the same address.
  void forget(const fabric::MemoryBlock* block);

 private:
  using Word = std::pair<const fabric::MemoryBlock*, std::uint64_t>;
  std::map<Word, LastWrite> writes_;  // by block and offset
};

}  // namespace falafel::explorer
