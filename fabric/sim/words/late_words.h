// Words that a WRITE has changed and that the processor of the host does not see yet (option
// late_visibility; docs/fabric.md, "When the processor sees a WRITE").
//
// Memory always holds the newest words, and READs and atomics of all queue pairs find them. Only
// the processor's view is late. For each late word, this class keeps the old word and the request
// that changed it. A word becomes visible when the contract promises it (reveal), when another
// access changes it (forget), or when the processor looks and a choice says so. It never becomes
// older again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>

namespace falafel::sim {

class LateWords {
 public:
  // A WRITE: its queue pair, and its place in the send queue.
  struct Source {
    std::uint32_t queue_pair = 0;
    std::uint64_t place = 0;
  };

  bool empty() const { return words_.empty(); }

  // Call before the WRITE changes the range. The processor continues to see the present words.
  void retain(const std::byte* begin, std::uint64_t length_bytes, const Source& source);
  // All words in the range become visible.
  void forget(const std::byte* begin, std::uint64_t length_bytes);
  // All WRITEs before that place in the send queue of the queue pair become visible.
  void reveal(std::uint32_t queue_pair, std::uint64_t before_place);
  std::uint64_t count_in(const std::byte* begin, std::uint64_t length_bytes) const;

  // The neighbors among the late words of a range that stay late: `count` of them, from the one of
  // number `first` on. Behind the last one, the first one follows.
  struct Neighbors {
    std::uint64_t first = 0;
    std::uint64_t count = 0;
  };
  // The processor reads: replaces the memory from `begin` on, in `seen`, by the words that it sees.
  // The other late words become visible.
  void look(const std::byte* begin, std::span<std::byte> seen, const Neighbors& stay_late);

 private:
  struct LateWord {
    std::uint64_t seen_instead = 0;
    Source source;
  };
  // Keys of one block are in the order of its words. The order of blocks does not matter.
  using Words = std::map<const std::byte*, LateWord>;

  Words words_;
};

}  // namespace falafel::sim
