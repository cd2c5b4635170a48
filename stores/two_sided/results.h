// The results of a client's operations, and what they cost.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "stores/answer.h"

namespace falafel::two_sided {

using stores::Answer;

struct OperationStatistics {
  std::uint64_t verbs = 0;            // SENDs
  std::uint64_t round_trips = 0;      // requests, each counted once
  std::uint64_t repetitions = 0;      // requests that were sent again
  std::uint64_t stale_responses = 0;  // responses to earlier requests (response matching)
  std::uint64_t bytes_sent = 0;
  std::uint64_t bytes_received = 0;

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
