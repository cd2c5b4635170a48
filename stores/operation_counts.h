// The statistics of a client: of the operation under way, and the sum over all operations.
#pragma once

#include <utility>

#include "stores/answer.h"

namespace falafel::stores {

template <typename Statistics>
struct OperationCounts {
  Statistics operation{};
  Statistics total{};

  // Ends the operation: its answer and its statistics become those of the result.
  template <typename Result>
  Result finish(Answer answer, Result result) {
    result.answer = answer;
    result.statistics = std::exchange(operation, {});
    total += result.statistics;
    return result;
  }
};

}  // namespace falafel::stores
