// The results of a client's operations, and what they cost.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "stores/answer.h"
#include "stores/traffic.h"

namespace falafel::race {

using stores::Answer;

struct OperationStatistics : stores::Traffic {
  std::uint64_t blocks_read = 0;    // with a matching fingerprint
  std::uint64_t other_keys = 0;     // of these, blocks of another key
  std::uint64_t block_retries = 0;  // lookups that started over because a block did not verify
  std::uint64_t lost_swaps = 0;     // CASes that found another word
  std::uint64_t duplicates = 0;     // copies of a key that an insert found besides its own
  std::uint64_t wild_pointers = 0;  // slots that lead out of the heap
  std::uint64_t allocations = 0;    // requests for a segment
  std::uint64_t reused_blocks = 0;
  std::uint64_t directory_reads = 0;  // besides that of each new connection
  std::uint64_t splits = 0;
  std::uint64_t helped_splits = 0;  // of other clients, which this one has finished
  std::uint64_t reconnections = 0;

  OperationStatistics& operator+=(const OperationStatistics& other);
};

struct GetResult {
  Answer answer = Answer::disconnected;
  std::vector<std::byte> value{};
  OperationStatistics statistics{};
};

// The result of PUT and DELETE.
struct Result {
  Answer answer = Answer::disconnected;
  OperationStatistics statistics{};
};

}  // namespace falafel::race
