// Watches the operations of a client, for metrics.
#pragma once

#include <cstddef>
#include <cstdint>

#include "engine/client/results.h"

namespace falafel::engine {

enum class Operation : std::uint8_t { get, set, remove };
inline constexpr std::size_t operation_count = 3;

// The functions run on the fibers of the operations, as part of them, so they must be fast and must
// not wait.
class OperationObserver {
 public:
  virtual ~OperationObserver() = default;
  // Returns a time of the observer's own choice, which ended() receives. An operation whose fiber
  // is cancelled begins and does not end.
  virtual std::uint64_t begun() = 0;
  virtual void ended(Operation operation, Answer answer, const OperationStatistics& statistics,
                     std::uint64_t begun) = 0;
};

}  // namespace falafel::engine
