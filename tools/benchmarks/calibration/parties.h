// The parties of a calibration, on any fabric: a server that owns memory and a store and takes
// messages, and
// clients that put one load after the other on its device. The clients share a board, in one
// process or several; the server shares nothing with them, so that it can be on another machine.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <tl/expected.hpp>

#include "fabric/fabric.h"
#include "tools/benchmarks/calibration/load.h"
#include "tools/benchmarks/store/board.h"

namespace falafel::calibration {

inline constexpr std::uint16_t service = 9;

// A client's observation of one load.
struct Observation {
  std::uint64_t requests = 0;
  std::uint64_t begin_ns = 0;  // when it began, and its last completion, on a common clock
  std::uint64_t last_ns = 0;
  double latency_ns = 0;
  double busy_ns = 0;
};

struct Board {
  static constexpr std::size_t most_loads = 64;

  std::atomic<std::uint32_t> clients_ready = 0;
  std::atomic<std::uint32_t> loads_begun = 0;
  std::atomic<std::uint32_t> loads_ended = 0;  // summed over all clients
  std::atomic<std::uint64_t> begin_ns = 0;     // of the current load
  std::atomic<std::uint32_t> clients_over = 0;
  std::atomic<bool> has_failed = false;
  store_benchmark::SharedText failure;  // of the first party to fail
  std::array<std::array<Observation, most_clients>, most_loads> observations;
  ProcessorCost processor;
  StoreLatency store;

  void fail(std::string_view message) {
    if (!has_failed.exchange(true)) failure.set(message);
  }
};

struct TimedLoad {
  Load load;
  std::uint64_t duration_ns = 0;
  std::uint64_t most_requests = fabric::never_ns;  // of each client, after which the load ends too
};

struct ClientPlace {
  fabric::Address server;
  std::uint32_t number = 0;
  std::uint32_t clients = 1;
  std::uint64_t interval_ns = 10'000;  // between two looks at the board
  std::uint64_t store_keys = 500;      // the simulator has no caches that more of them would miss
  std::uint64_t longest_store_load_ns = fabric::never_ns;
};

// Serves clients until `is_over` returns true, which it asks now and then.
tl::expected<void, std::string> serve(fabric::Host& host, const std::function<bool()>& is_over,
                                      std::uint64_t interval_ns);
// Measures all loads together with the other clients. Failures are on the board.
void run_client(fabric::Host& host, const ClientPlace& place, std::span<const TimedLoad> loads,
                Board& board);

// Computes the measurement from the clients' observations.
Measurement sum_up(std::span<const TimedLoad> loads, const Board& board);

}  // namespace falafel::calibration
