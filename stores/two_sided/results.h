// The results of a client's operations, and what they cost.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "stores/answer.h"
#include "stores/traffic.h"

namespace falafel::two_sided {

using stores::Answer;

// Its verbs are SENDs, and its round trips are requests, each counted once.
struct OperationStatistics : stores::Traffic {
  std::uint64_t repetitions = 0;      // requests that were sent again
  std::uint64_t stale_responses = 0;  // responses to earlier requests (response matching)

  OperationStatistics& operator+=(const OperationStatistics& other);
};

struct GetResult {
  Answer answer = Answer::disconnected;
  std::vector<std::byte> value{};
  OperationStatistics statistics{};
};

// The result of all other operations.
struct Result {
  Answer answer = Answer::disconnected;
  OperationStatistics statistics{};
};

}  // namespace falafel::two_sided
