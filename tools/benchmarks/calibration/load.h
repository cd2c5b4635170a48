// The measurements of a calibration: loads that clients put on a device, and the cost of a request
// then.
#pragma once

#include <cstdint>
#include <vector>

#include "fabric/fabric.h"

namespace falafel::calibration {

inline constexpr std::uint32_t most_clients = 32;
inline constexpr std::uint32_t most_in_flight = 16;
inline constexpr std::uint32_t longest_message_bytes = 4'096;
inline constexpr std::uint32_t longest_transfer_bytes = 65'536;
// Between the memory of two clients. Not a power of two, which caches and locks of cards confuse.
inline constexpr std::uint64_t memory_stride_bytes = longest_transfer_bytes + 64;

// Clients that repeat one kind of request.
struct Load {
  fabric::Opcode opcode = fabric::Opcode::read;  // READ, WRITE, SEND or an atomic
  std::uint32_t length_bytes = 8;
  std::uint32_t clients = 1;
  std::uint32_t in_flight = 1;  // requests of each client
  bool same_word = false;       // all clients access the same memory; otherwise each has its own

  friend bool operator==(const Load&, const Load&) = default;
};

struct Cost {
  double latency_ns = 0;   // median, from posting until the completion has been polled
  double interval_ns = 0;  // between two completions of any client
  double busy_ns = 0;      // median, that the processor of a client posts and polls a request
};

// The time of a processor for the work of the store, by the number of bytes.
struct LinearCost {
  double fixed_ns = 0;
  double ns_per_byte = 0;
};
struct ProcessorCost {
  LinearCost hash{};
  LinearCost checksum{};
  LinearCost copy{};
  double lock_ns = 0;  // to take and release one that nobody else holds
};

// Medians of GETs by one client, whose requests are READs of at most 128 bytes.
struct StoreLatency {
  double absent_ns = 0;   // of a key in an empty slot: one round trip
  double present_ns = 0;  // of a key that is found: two round trips, and a copy of its value
};

struct MeasuredLoad {
  Load load;
  Cost cost;
};
struct Measurement {
  std::vector<MeasuredLoad> loads;
  ProcessorCost processor;
  StoreLatency store;

  // The load must have been measured.
  const Cost& cost_of(const Load& load) const;
};

// The loads from which a profile follows, with `clients` clients where the rate matters.
std::vector<Load> fitted_loads(std::uint32_t clients);
// The same, and those that only a report shows: latencies by size, rates by number of clients.
std::vector<Load> reported_loads(std::uint32_t clients);

// Loads with one request in flight show latencies, all others show rates.
inline bool shows_latency(const Load& load) { return load.clients == 1 && load.in_flight == 1; }

// The medians of several rounds with the same loads.
Measurement median_of(const std::vector<Measurement>& rounds);

}  // namespace falafel::calibration
