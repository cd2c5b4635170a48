// Observes the start and the end of a run's operations, with their costs. One fiber executes each
// operation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "checkers/history.h"
#include "checkers/key_scans.h"
#include "engine/client/results.h"
#include "fabric/fabric.h"

namespace falafel::store_scenario {

struct OperationResult {
  engine::Answer answer{};
  engine::OperationStatistics statistics;
  std::vector<std::byte> found;  // found by a get
};

class OperationWatcher {
 public:
  virtual ~OperationWatcher() = default;
  virtual void on_operation_called(fabric::FiberId fiber, const checkers::Operation& operation,
                                   std::uint64_t time_ns) = 0;
  virtual void on_operation_returned(fabric::FiberId fiber, const checkers::Operation& operation,
                                     const OperationResult& result, std::uint64_t time_ns) = 0;
  // The same for a scan of all keys.
  virtual void on_scan_called(fabric::FiberId fiber, const checkers::KeyScan& scan,
                              std::uint64_t time_ns) = 0;
  virtual void on_scan_returned(fabric::FiberId fiber, const checkers::KeyScan& scan,
                                engine::Answer answer, std::uint64_t time_ns) = 0;
  // The fiber was unwound during the operation or the scan.
  virtual void on_operation_abandoned(fabric::FiberId fiber) = 0;
  // The fiber asks for the end of all operations. Later, they have ended, or it hears nothing.
  virtual void on_end_asked(fabric::FiberId fiber) = 0;
  virtual void on_end_answered(fabric::FiberId fiber, bool have_ended) = 0;
  // The server has started over memory that may have data.
  virtual void on_server_started(std::uint64_t time_ns) = 0;
  // A client ends its connection.
  virtual void on_goodbye(std::uint32_t client) = 0;
};

}  // namespace falafel::store_scenario
