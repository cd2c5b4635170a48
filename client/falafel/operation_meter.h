// Counts and times the operations of one store. The thread that runs the store's host counts; any
// thread may read at any time.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <string>

#include "engine/client/operation_observer.h"
#include "engine/client/results.h"
#include "fabric/realtime/processor.h"
#include "fabric/realtime/tick_rate.h"
#include "falafel/latency_histogram.h"
#include "falafel/metrics.h"

namespace falafel {

class OperationMeter final : public engine::OperationObserver {
 public:
  // Call before the first operation, at the earliest a millisecond after the construction.
  void calibrate() { ns_per_tick_ = rate_.ns_per_tick(); }

  std::uint64_t begun() override { return fabric::processor_ticks(); }
  void ended(engine::Operation operation, engine::Answer answer,
             const engine::OperationStatistics& statistics, std::uint64_t begun) override;
  // Counts operations that did not reach a client.
  void count(engine::Operation operation, engine::Answer answer);
  void count_connection() { connections_.add(1); }
  void set_connected(bool is_connected) { is_connected_.store(is_connected); }

  StoreMetrics metrics(std::string server) const;

 private:
  // Has one writer at a time, so it needs no atomic addition.
  class Counter {
   public:
    void add(std::uint64_t count) {
      value_.store(value_.load(std::memory_order_relaxed) + count, std::memory_order_relaxed);
    }
    std::uint64_t get() const { return value_.load(std::memory_order_relaxed); }

   private:
    std::atomic<std::uint64_t> value_ = 0;
  };
  struct OfOperation {
    std::array<Counter, engine::answer_count> answers;
    std::array<Counter, LatencyHistogram::bucket_count> buckets;
    Counter latencies_sum_ns;
  };
  struct Costs {
    Counter lookups, verbs, bytes, round_trips, restarts, lost_compare_and_swaps, cached_locations,
        stale_locations;
  };

  fabric::TickRate rate_;
  double ns_per_tick_ = 1;
  std::array<OfOperation, engine::operation_count> operations_;
  Costs costs_;
  Counter connections_;
  std::atomic<bool> is_connected_ = false;
};

}  // namespace falafel
