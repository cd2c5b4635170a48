// Metrics of a store: operations by outcome, their latencies and their costs. For programs that
// watch themselves, and for Prometheus:
//
//   const std::vector<falafel::StoreMetrics> metrics{store->metrics()};
//   reply(falafel::to_prometheus(metrics));  // as text/plain; version=0.0.4
//
// docs/library.md lists the names.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "engine/client/operation_observer.h"
#include "engine/client/results.h"
#include "falafel/latency_histogram.h"

namespace falafel {

struct OperationMetrics {
  // The number of operations that gave each answer. An operation that the store repeated after it
  // had reconnected counts twice: as `disconnected`, and with its final answer.
  std::array<std::uint64_t, engine::answer_count> answers{};
  LatencyHistogram latencies_ns;  // of those that reached the client, with any answer
  std::uint64_t latencies_sum_ns = 0;

  std::uint64_t count_of(engine::Answer answer) const {
    return answers[static_cast<std::size_t>(answer)];
  }
};

// The metrics of one store, or the sum of several stores of one server.
struct StoreMetrics {
  std::string server;
  std::uint64_t stores = 1;
  std::uint64_t connected_stores = 0;
  std::uint64_t connections = 0;  // made so far; more than one of a store: the server was away
  // By engine::Operation. On the heap, because the stacks of fibers are small.
  std::vector<OperationMetrics> operations = std::vector<OperationMetrics>(engine::operation_count);
  engine::OperationStatistics costs;

  const OperationMetrics& of(engine::Operation operation) const {
    return operations[static_cast<std::size_t>(operation)];
  }
  StoreMetrics& operator+=(const StoreMetrics& other);
};

// The text format of Prometheus, version 0.0.4. Adds up the metrics of stores that have the same
// server, because a program with one store per thread is one client to whoever watches it.
std::string to_prometheus(std::span<const StoreMetrics> metrics);

}  // namespace falafel
