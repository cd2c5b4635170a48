// A history by keys: which operations are on which key, and their strings as numbers. Operations of
// which nothing can be learned (refused ones, gets without an answer) are left out.
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
  // The history and its strings must live as long as what is asked for. With merged values, those
  // that no answer depends on become `unobserved`.
  void assign(std::span<const Operation> history, bool merges_unobserved_values);

  std::size_t keys() const { return keys_.strings().size(); }
  std::string_view key(std::size_t number) const { return keys_.strings()[number]; }

  // Positions in the history, ascending, of the operations on a key.
  std::span<const std::uint32_t> positions(std::size_t key) const;

  const Transition& transition(std::uint32_t position) const { return transitions_[position]; }

  // The strings of values, from first_value on.
  std::span<const std::string_view> values() const { return values_.strings(); }

 private:
  void number_strings(std::span<const Operation> history);
  void group_by_key();
  void merge_unobserved_values();

  StringTable keys_;
  StringTable values_;
  std::vector<std::uint32_t> key_of_;        // by position in the history; not_judged
  std::vector<Transition> transitions_;      // by position in the history
  std::vector<std::uint32_t> key_begin_;     // by key: where its positions begin; and the end
  std::vector<std::uint32_t> positions_;     // grouped by key
  std::vector<std::uint32_t> observed_for_;  // by value: the last key whose answers depend on it
};

}  // namespace falafel::checkers::linearization
