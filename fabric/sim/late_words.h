// Words that a WRITE has changed and that the processor of their host does not see yet (option
// late_visibility; docs/fabric.md, "When the processor sees a WRITE").
//
// Memory itself always holds the newest words: READs and atomics, through whichever queue pair, find
// them. Only the processor's view is late. Kept is what it sees instead of a word, and by which request
// the word was changed. The word becomes visible when the contract promises it (reveal), when somebody
// changes it by other means (forget), or when the processor looks and the choices say so; never does it
// become older again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>

namespace falafel::sim {

struct World;

class LateWords {
 public:
  // A WRITE: the queue pair that it was posted to, and its place in the send queue there.
  struct Source {
    std::uint32_t queue_pair = 0;
    std::uint64_t place = 0;
  };

  bool empty() const { return words_.empty(); }

  // Before the WRITE changes the range: the processor goes on seeing what is there.
  void retain(const std::byte* begin, std::uint64_t length_bytes, const Source& source);
  // All that is in the range is visible.
  void forget(const std::byte* begin, std::uint64_t length_bytes);
  // All WRITEs of the queue pair that were posted before that place are visible.
  void reveal(std::uint32_t queue_pair, std::uint64_t before_place);
  // The processor looks: `seen` holds the memory from `begin` on, and becomes what the processor sees.
  void look(World& world, const std::byte* begin, std::span<std::byte> seen);

 private:
  struct LateWord {
    std::uint64_t seen_instead = 0;
    Source source;
  };
  // Blocks are far apart, so within one the order is that of its words; across blocks none is needed.
  using Words = std::map<const std::byte*, LateWord>;

  Words::iterator first_in(const std::byte* begin);

  Words words_;
};

}  // namespace falafel::sim
