// Runs operations of the C interface with many in flight, on fibers of one store.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "engine/client/client.h"
#include "falafel/falafel.h"
#include "falafel/store.h"
#include "falafel/turns.h"

namespace falafel {

// Runs one operation in a batch of its server and returns its result.
falafel_status perform_in_batch(falafel_operation& operation, engine::Batch& batch);

// The place that operations come from and return to. Its functions must not wait for long and must
// not need memory.
class OperationSource {
 public:
  virtual ~OperationSource() = default;
  virtual bool is_empty() = 0;
  virtual falafel_operation* take() = 0;  // null: it is empty
  virtual void put_back(falafel_operation& operation) = 0;
  virtual void finish(falafel_operation& operation) = 0;  // its status is set
};

class AsyncRunner {
 public:
  virtual ~AsyncRunner() = default;
  // Takes operations and runs them until the source is empty and all have ended. The statuses of
  // operations in the source must be FALAFEL_OK.
  virtual void run(OperationSource& source) = 0;
  // Tells a concurrent run() that its source has more operations. May be called from any thread.
  virtual void notify() = 0;
};

class OperationRunner final : public AsyncRunner {
 public:
  OperationRunner(Store& store, Turns& turns, std::uint32_t max_in_flight)
      : store_(store), turns_(turns), max_in_flight_(max_in_flight) {}

  // Other threads that wait for their turn get it now and then.
  void run(OperationSource& source) override;
  // Runs the operations as batches and waits for them. Other threads get their turn in between.
  void run_batch(std::span<falafel_operation> operations);
  void notify() override;

 private:
  class Round;

  falafel_status run_some(std::span<falafel_operation*> left);
  void end_all(OperationSource& source, falafel_status status);
  void end(falafel_operation& operation, falafel_status status);

  Store& store_;
  Turns& turns_;
  const std::uint32_t max_in_flight_;
  // Changes when a run() has something to do. Threads change it with std::atomic_ref, and a fiber
  // waits for that.
  std::uint64_t news_ = 0;
};

}  // namespace falafel
