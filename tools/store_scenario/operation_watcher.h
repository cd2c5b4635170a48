// Who sees the operations of a run come and go, with what they took. Each is executed by one fiber.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "checkers/history.h"
#include "engine/client/results.h"
#include "fabric/fabric.h"

namespace falafel::store_scenario {

struct OperationResult {
  engine::Answer answer{};
  engine::OperationStatistics statistics;
  std::vector<std::byte> found;  // by a get
};

class OperationWatcher {
 public:
  virtual ~OperationWatcher() = default;
  virtual void on_operation_called(fabric::FiberId fiber, const checkers::Operation& operation,
                                   std::uint64_t time_ns) = 0;
  virtual void on_operation_returned(fabric::FiberId fiber, const checkers::Operation& operation,
                                     const OperationResult& result, std::uint64_t time_ns) = 0;
  // The fiber unwound in the middle of it.
  virtual void on_operation_abandoned(fabric::FiberId fiber) = 0;
};

}  // namespace falafel::store_scenario
