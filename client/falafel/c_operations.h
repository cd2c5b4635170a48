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

class OperationRunner {
 public:
  OperationRunner(Store& store, Turns& turns, std::uint32_t max_in_flight)
      : store_(store), turns_(turns), max_in_flight_(max_in_flight) {}

  // Takes operations and runs them until the source is empty and all have ended. Other threads that
  // wait for their turn get it now and then. The statuses of operations in the source must be
  // FALAFEL_OK.
  void run(OperationSource& source);
  // Runs the operations as batches and waits for them. Other threads get their turn in between.
  void run_batch(std::span<falafel_operation> operations);
  // Tells a concurrent run() that its source has more operations. May be called from any thread.
  void notify();

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
