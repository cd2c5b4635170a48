// The results of a client's operations, and what they cost.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "stores/answer.h"
#include "stores/traffic.h"

namespace falafel::pilaf {

using stores::Answer;

struct OperationStatistics : stores::Traffic {
  std::uint64_t probes = 0;          // slots that lookups looked at
  std::uint64_t entry_retries = 0;   // entries whose checksum was wrong
  std::uint64_t extent_retries = 0;  // extents whose checksum was wrong
  // Extent retries in which the pointer led out of the extents, so nothing was read.
  std::uint64_t wild_pointers = 0;
  std::uint64_t absence_retries = 0;  // lookups that started over because an entry had changed
  std::uint64_t message_gets = 0;     // GETs that asked the server
  std::uint64_t reconnections = 0;

  std::uint64_t retries() const { return entry_retries + extent_retries + absence_retries; }
  OperationStatistics& operator+=(const OperationStatistics& other);
};

struct GetResult {
  Answer answer = Answer::disconnected;
  std::vector<std::byte> value{};
  OperationStatistics statistics{};
};

// The result of PUT, DELETE, contains and ping.
struct Result {
  Answer answer = Answer::disconnected;
  OperationStatistics statistics{};
};

}  // namespace falafel::pilaf
