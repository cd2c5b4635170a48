// Records what the words of memory contain, as far as the effects of a run show it, and arranges
// them in rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "explorer/subjects.h"
#include "explorer/timeline/timeline.h"
#include "explorer/vocabulary.h"

namespace falafel::timeline {

class WordRecorder {
 public:
  // An access of a device or a processor. `data`: the contents after it.
  void access(std::uint64_t step, std::uint32_t memory, std::uint64_t offset,
              std::span<const std::byte> data);
  // The same if the contents are not known.
  void access(std::uint32_t memory, std::uint64_t offset, std::uint64_t length_bytes);

  // Adds the rows of the memories that `is_shown` selects, and their changes.
  void finish(Timeline& timeline, const explorer::Subjects& subjects,
              const explorer::Vocabulary& vocabulary, const std::set<std::uint32_t>& shown) const;

 private:
  using Word = std::pair<std::uint32_t, std::uint64_t>;  // memory, offset
  struct Change {
    std::uint64_t step = 0;
    std::uint64_t word = 0;
  };

  std::map<Word, std::vector<Change>> words_;
};

}  // namespace falafel::timeline
