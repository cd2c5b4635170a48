#include "checkers/linearization/key_partition.h"

#include "fabric/fabric.h"

namespace falafel::checkers::linearization {

namespace {

constexpr std::uint32_t not_judged = 0xffff'ffffU;

bool is_judged(const Operation& operation) {
  if (operation.answer == Answer::refused) return false;
  return operation.kind != OperationKind::get || operation.answer != Answer::indeterminate;
}

bool has_value(const Operation& operation) {
  if (operation.kind == OperationKind::remove) return false;
  return operation.kind != OperationKind::get || operation.answer == Answer::found;
}

}  // namespace

void KeyPartition::assign(std::span<const Operation> history, bool merges_unobserved_values) {
  FALAFEL_ASSERT(history.size() < not_judged / 4,
                 "the history has {} operations, which is too many", history.size());
  number_strings(history);
  group_by_key();
  if (merges_unobserved_values) merge_unobserved_values();
}

std::span<const std::uint32_t> KeyPartition::positions(std::size_t key) const {
  return std::span(positions_).subspan(key_begin_[key], key_begin_[key + 1] - key_begin_[key]);
}

void KeyPartition::number_strings(std::span<const Operation> history) {
  keys_.clear(history.size() / 8);
  values_.clear(history.size());
  key_of_.assign(history.size(), not_judged);
  transitions_.resize(history.size());
  for (std::size_t position = 0; position < history.size(); ++position) {
    const Operation& operation = history[position];
    if (!is_judged(operation)) continue;
    key_of_[position] = keys_.number_of(operation.key);
    Transition& transition = transitions_[position];
    transition = {.kind = operation.kind, .answer = operation.answer};
    if (has_value(operation)) {
      transition.value = first_value + values_.number_of(operation.value);
    }
    if (operation.kind == OperationKind::compare_and_swap && operation.expected) {
      transition.expected = first_value + values_.number_of(*operation.expected);
    }
  }
}

// Uses a counting sort.
void KeyPartition::group_by_key() {
  key_begin_.assign(keys() + 2, 0);
  for (const std::uint32_t key : key_of_) {
    if (key != not_judged) ++key_begin_[key + 2];
  }
  for (std::size_t key = 2; key < key_begin_.size(); ++key) key_begin_[key] += key_begin_[key - 1];
  positions_.resize(key_begin_.back());
  for (std::size_t position = 0; position < key_of_.size(); ++position) {
    const std::uint32_t key = key_of_[position];
    if (key != not_judged) positions_[key_begin_[key + 1]++] = static_cast<std::uint32_t>(position);
  }
}

void KeyPartition::merge_unobserved_values() {
  observed_for_.assign(first_value + values().size(), not_judged);
  for (std::uint32_t key = 0; key < keys(); ++key) {
    for (const std::uint32_t position : positions(key)) {
      const Transition& transition = transitions_[position];
      observed_for_[transition.expected] = key;
      if (transition.kind == OperationKind::get) observed_for_[transition.value] = key;
    }
    for (const std::uint32_t position : positions(key)) {
      std::uint32_t& value = transitions_[position].value;
      if (value != absent && observed_for_[value] != key) value = unobserved;
    }
  }
}

}  // namespace falafel::checkers::linearization
