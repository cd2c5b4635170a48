#include "tests/checkers/mutation.h"

#include <algorithm>

namespace falafel::checkers_test {
namespace {

using checkers::Answer;
using checkers::Model;
using checkers::Operation;
using checkers::OperationKind;

void change_answer(Operation& operation, Model model) {
  switch (operation.answer) {
    case Answer::found:
      if (model != Model::append_log) operation.answer = Answer::not_found;
      break;
    case Answer::not_found:
      operation.answer = operation.kind == OperationKind::get ? Answer::found : Answer::deleted;
      break;
    case Answer::deleted: operation.answer = Answer::not_found; break;
    case Answer::swapped: operation.answer = Answer::not_swapped; break;
    case Answer::not_swapped: operation.answer = Answer::swapped; break;
    case Answer::indeterminate:
    case Answer::refused:
    case Answer::stored: break;
  }
}

}  // namespace

void mutate(std::vector<Operation>& history, Model model, fabric::RandomGenerator& random) {
  Operation& operation = history[random.below(history.size())];
  const Operation& other = history[random.below(history.size())];
  switch (random.below(5)) {
    case 0: change_answer(operation, model); break;
    case 1: operation.value = other.value; break;
    case 2: operation.key = other.key; break;
    case 3: operation.answer = Answer::refused; break;
    default:  // moves it earlier or later
      operation.call_time = other.call_time;
      operation.return_time = std::max(operation.call_time, operation.return_time);
      break;
  }
}

}  // namespace falafel::checkers_test
