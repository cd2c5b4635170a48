#include "tests/checkers/oracle.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace falafel::checkers_test {
namespace {

using checkers::Answer;
using checkers::Model;
using checkers::Operation;
using checkers::OperationKind;

using Values = std::map<std::string, std::optional<std::string>>;

// Executes the operation on the values; returns whether its answer is correct or lost.
bool carry_out(const Operation& operation, std::optional<std::string>& value) {
  const bool is_lost = operation.answer == Answer::indeterminate;
  switch (operation.kind) {
    case OperationKind::get:
      if (is_lost) return true;
      return operation.answer == Answer::found ? value == operation.value : !value.has_value();
    case OperationKind::set: value = operation.value; return true;
    case OperationKind::append: *value += operation.value; return true;
    case OperationKind::remove: {
      const bool was_present = value.has_value();
      value.reset();
      return is_lost || was_present == (operation.answer == Answer::deleted);
    }
    case OperationKind::compare_and_swap: {
      const bool matched = value == operation.expected;
      if (matched) value = operation.value;
      return is_lost || matched == (operation.answer == Answer::swapped);
    }
  }
  return false;
}

class Oracle {
 public:
  Oracle(std::span<const Operation> history, Model model) : history_(history), model_(model) {
    is_done_.assign(history.size(), false);
    for (std::size_t index = 0; index < history.size(); ++index) {
      if (history[index].answer == Answer::refused) is_done_[index] = true;
    }
  }

  bool can_continue(const Values& values) {
    bool is_complete = true;
    for (std::size_t index = 0; index < history_.size(); ++index) {
      if (is_done_[index]) continue;
      is_complete = is_complete && history_[index].answer == Answer::indeterminate;
      if (may_be_next(index) && can_continue_with(index, values)) return true;
    }
    return is_complete;
  }

 private:
  bool may_be_next(std::size_t candidate) const {
    for (std::size_t index = 0; index < history_.size(); ++index) {
      const bool waits = !is_done_[index] && history_[index].answer != Answer::indeterminate &&
                         history_[index].return_time < history_[candidate].call_time;
      if (waits) return false;
    }
    return true;
  }

  bool can_continue_with(std::size_t index, Values values) {
    std::optional<std::string>& value = values[history_[index].key];
    if (model_ == Model::append_log && !value) value.emplace();
    if (!carry_out(history_[index], value)) return false;
    is_done_[index] = true;
    const bool result = can_continue(values);
    is_done_[index] = false;
    return result;
  }

  std::span<const Operation> history_;
  Model model_;
  std::vector<bool> is_done_;
};

}  // namespace

bool is_linearizable(std::span<const Operation> history, Model model) {
  return Oracle(history, model).can_continue({});
}

}  // namespace falafel::checkers_test
