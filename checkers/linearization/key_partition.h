// A history grouped by key, with strings replaced by numbers. Operations that reveal nothing are
// left out: refused operations and gets without an answer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "checkers/history.h"
#include "checkers/linearization/string_table.h"
#include "checkers/linearization/transition.h"

namespace falafel::checkers::linearization {

class KeyPartition {
 public:
  // The history and its strings must outlive their use here. With `merges_unobserved_values`,
  // values that no answer depends on become `unobserved`.
  void assign(std::span<const Operation> history, bool merges_unobserved_values);

  std::size_t keys() const { return keys_.strings().size(); }
  std::string_view key(std::size_t number) const { return keys_.strings()[number]; }

  // The positions in the history, ascending, of the operations on a key.
  std::span<const std::uint32_t> positions(std::size_t key) const;

  const Transition& transition(std::uint32_t position) const { return transitions_[position]; }

  // The strings of the values; the first one has the number first_value.
  std::span<const std::string_view> values() const { return values_.strings(); }

 private:
  void number_strings(std::span<const Operation> history);
  void group_by_key();
  void merge_unobserved_values();

  StringTable keys_;
  StringTable values_;
  std::vector<std::uint32_t> key_of_;    // by position in the history; not_judged
  std::vector<Transition> transitions_;  // by position in the history
  // by key: start of its positions; one more element marks the end
  std::vector<std::uint32_t> key_begin_;
  std::vector<std::uint32_t> positions_;  // grouped by key
  // by value: the last key with an answer that depends on it
  std::vector<std::uint32_t> observed_for_;
};

}  // namespace falafel::checkers::linearization
