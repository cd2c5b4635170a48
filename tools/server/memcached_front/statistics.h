// The front's counters, over all connections and threads, for the command `stats`.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string_view>

namespace falafel::memcached_front {

// Clients derive from the first two numbers what the server understands.
inline constexpr std::string_view version_of_protocol = "1.6.0-falafel";

struct Statistics {
  const std::chrono::steady_clock::time_point started = std::chrono::steady_clock::now();
  std::uint32_t threads = 1;
  std::uint32_t max_connections = 0;
  bool permits_flush = true;
  std::atomic<std::uint64_t> current_connections = 0;
  std::atomic<std::uint64_t> total_connections = 0;
  std::atomic<std::uint64_t> rejected_connections = 0;
  std::atomic<std::uint64_t> get_hits = 0;
  std::atomic<std::uint64_t> get_misses = 0;
  std::atomic<std::uint64_t> sets = 0;
  std::atomic<std::uint64_t> delete_hits = 0;
  std::atomic<std::uint64_t> delete_misses = 0;
  std::atomic<std::uint64_t> refusals = 0;  // requests that were answered with an error

  // Sets the counts of requests to zero, as `stats reset` does.
  void reset() {
    for (auto* const count : {&get_hits, &get_misses, &sets, &delete_hits, &delete_misses})
      *count = 0;
  }
};

}  // namespace falafel::memcached_front
