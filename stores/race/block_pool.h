// The blocks that a client may write: the rest of the segment that it requested last, and those
// that it has freed, by their length. A block that a client frees becomes its own, whoever
// requested its segment. The memory of a client that dies is lost (a reading of ours: the paper
// says only that clients manage what the memory node hands out).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace falafel::race {

// A block that no slot has yet.
struct FreeBlock {
  std::uint64_t offset = 0;
  std::uint64_t units = 0;
  std::uint64_t tag = 0;  // of its next use
  bool was_used = false;
};

class BlockPool {
 public:
  // The block that was freed last, or else the next one of the segment.
  std::optional<FreeBlock> take(std::uint64_t units);
  void free(const FreeBlock& block) { free_[block.units].push_back(block); }
  // The rest of the previous segment is lost.
  void add_segment(std::uint64_t offset, std::uint64_t bytes) {
    next_ = offset;
    left_bytes_ = bytes;
  }

 private:
  std::map<std::uint64_t, std::vector<FreeBlock>> free_;  // by units
  std::uint64_t next_ = 0;
  std::uint64_t left_bytes_ = 0;
};

}  // namespace falafel::race
