// Which configurations of a search have been visited. A configuration is (rank, state, operations
// that were ordered early), the last as a bitset of a fixed number of words.
//
// An open-addressing hash table whose slots hold whole configurations. Nothing is ever removed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "checkers/linearization/transition.h"

namespace falafel::checkers::linearization {

class ConfigurationSet {
 public:
  // Forgets all configurations. Bitsets have `words` words from now on.
  void clear(std::size_t words, std::size_t expected_configurations);

  // Whether the configuration was not in the set; it is afterwards.
  bool insert(std::uint32_t rank, State state, std::span<const std::uint64_t> early);

  // What the set takes while the next configuration is inserted: more if it has to grow for it.
  std::uint64_t next_memory_bytes() const {
    const bool grows = 2 * (size_ + 1) > slot_count_;
    return slot_count_ * slot_words_ * sizeof(std::uint64_t) * (grows ? 3U : 1U);
  }

 private:
  static constexpr std::uint64_t unused = ~std::uint64_t{0};  // as a first word: no rank is so high

  std::uint64_t* slot(std::size_t index) { return table_.data() + index * slot_words_; }
  std::size_t find(std::uint64_t head, std::span<const std::uint64_t> early);
  void grow();

  std::vector<std::uint64_t> table_;  // the slots in use are at its beginning
  std::size_t slot_words_ = 2;        // of each slot: rank and state in one, then the bitset
  std::size_t slot_count_ = 0;        // a power of two
  std::size_t size_ = 0;
};

}  // namespace falafel::checkers::linearization
