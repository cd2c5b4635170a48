// The results of a client's operations, and what they cost.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "stores/answer.h"
#include "stores/traffic.h"

namespace falafel::c_hint {

using stores::Answer;

struct OperationStatistics : stores::Traffic {
  std::uint64_t pointer_hits = 0;      // GETs whose READ gave the value
  std::uint64_t expired_pointers = 0;  // GETs whose lease had ended before the READ
  std::uint64_t late_reads = 0;        // GETs whose lease ended before the READ did
  std::uint64_t changed_items = 0;     // GETs whose READ found no such item
  std::uint64_t message_gets = 0;      // GETs that asked the server
  std::uint64_t reports = 0;
  std::uint64_t lost_reports = 0;  // those without a reply
  std::uint64_t renewed_leases = 0;
  std::uint64_t reconnections = 0;

  OperationStatistics& operator+=(const OperationStatistics& other);
};

struct GetResult {
  Answer answer = Answer::disconnected;
  std::vector<std::byte> value{};
  std::optional<std::uint64_t> read_at{};  // the offset of the item, if a READ gave the value
  OperationStatistics statistics{};
};

// The result of SET, REMOVE and ping.
struct Result {
  Answer answer = Answer::disconnected;
  OperationStatistics statistics{};
};

}  // namespace falafel::c_hint
