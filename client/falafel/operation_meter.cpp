#include "falafel/operation_meter.h"

namespace falafel {

void OperationMeter::ended(engine::Operation operation, engine::Answer answer,
                           const engine::OperationStatistics& statistics, std::uint64_t begun) {
  const std::uint64_t now = fabric::processor_ticks();
  // The counters of two processors may differ slightly.
  const std::uint64_t ticks = now > begun ? now - begun : 0;
  const auto duration_ns = static_cast<std::uint64_t>(static_cast<double>(ticks) * ns_per_tick_);
  OfOperation& of_operation = operations_[static_cast<std::size_t>(operation)];
  of_operation.answers[static_cast<std::size_t>(answer)].add(1);
  of_operation.buckets[LatencyHistogram::bucket_of(duration_ns)].add(1);
  of_operation.latencies_sum_ns.add(duration_ns);
  costs_.lookups.add(statistics.lookups);
  costs_.verbs.add(statistics.verbs);
  costs_.bytes.add(statistics.bytes);
  costs_.round_trips.add(statistics.round_trips);
  costs_.restarts.add(statistics.restarts);
  costs_.lost_compare_and_swaps.add(statistics.lost_compare_and_swaps);
  costs_.cached_locations.add(statistics.cached_locations);
  costs_.stale_locations.add(statistics.stale_locations);
}

void OperationMeter::count(engine::Operation operation, engine::Answer answer) {
  operations_[static_cast<std::size_t>(operation)].answers[static_cast<std::size_t>(answer)].add(1);
}

StoreMetrics OperationMeter::metrics(std::string server) const {
  StoreMetrics metrics;
  metrics.server = std::move(server);
  metrics.connected_stores = is_connected_ ? 1 : 0;
  metrics.connections = connections_.get();
  for (std::size_t operation = 0; operation < engine::operation_count; ++operation) {
    const OfOperation& counted = operations_[operation];
    OperationMetrics& copy = metrics.operations[operation];
    for (std::size_t answer = 0; answer < engine::answer_count; ++answer) {
      copy.answers[answer] = counted.answers[answer].get();
    }
    for (std::size_t bucket = 0; bucket < LatencyHistogram::bucket_count; ++bucket) {
      copy.latencies_ns.add(bucket, counted.buckets[bucket].get());
    }
    copy.latencies_sum_ns = counted.latencies_sum_ns.get();
  }
  metrics.costs = {.lookups = costs_.lookups.get(),
                   .verbs = costs_.verbs.get(),
                   .bytes = costs_.bytes.get(),
                   .round_trips = costs_.round_trips.get(),
                   .restarts = costs_.restarts.get(),
                   .lost_compare_and_swaps = costs_.lost_compare_and_swaps.get(),
                   .cached_locations = costs_.cached_locations.get(),
                   .stale_locations = costs_.stale_locations.get()};
  return metrics;
}

}  // namespace falafel
