// The configurations that a search has visited. A configuration consists of a rank, a state, and
// the set of operations that were ordered early, as a bitset with a fixed number of words.
//
// The set is an open-addressing hash table whose slots hold whole configurations. Configurations
// are never removed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "checkers/linearization/model.h"

namespace falafel::checkers::linearization {

class ConfigurationSet {
 public:
  // Forgets all configurations and sets the size of the bitsets to `words` words.
  void clear(std::size_t words, std::size_t expected_configurations);

  // Inserts the configuration; returns whether it is new.
  bool insert(std::uint32_t rank, State state, std::span<const std::uint64_t> early);

  // Memory use while the next configuration is inserted, including the new table if the set has to
  // grow.
  std::uint64_t next_memory_bytes() const { return table_bytes() + growth_bytes(); }

  // The size of the table that the set allocates beside its own if it grows with the next
  // configuration; otherwise 0.
  std::uint64_t growth_bytes() const {
    return 2 * (size_ + 1) > slot_count_ ? 2 * table_bytes() : 0;
  }

 private:
  // as first word of a slot; larger than any rank
  static constexpr std::uint64_t unused = ~std::uint64_t{0};

  std::uint64_t table_bytes() const { return slot_count_ * slot_words_ * sizeof(std::uint64_t); }
  std::uint64_t* slot(std::size_t index) { return table_.data() + index * slot_words_; }
  std::size_t find(std::uint64_t head, std::span<const std::uint64_t> early);
  void grow();

  std::vector<std::uint64_t> table_;  // the first slot_count_ slots are in use
  std::size_t slot_words_ = 2;        // per slot: rank and state in one word, then the bitset
  std::size_t slot_count_ = 0;        // a power of two
  std::size_t size_ = 0;
};

}  // namespace falafel::checkers::linearization
