// How long parties wait for each other by default, and why these times fit together: all of them
// follow from the time in which the network detects a dead peer.
#pragma once

#include <cstdint>

namespace falafel::engine {

// Within this time, the network detects that a peer is gone. It is twice the longest published
// measurement, 7.15 s: a ConnectX-6 with a time-out code of 17 and 7 retries, as the defaults of
// queue pairs have them. The card first adapts its time-out, then retries after twice
// 4.096 us * 2^max(code, 16) (https://github.com/unionxic/rdma-fault-characterization).
inline constexpr std::uint64_t detection_bound_ns = 14'300'000'000;

// The server gives up on a client that is silent for this long.
inline constexpr std::uint64_t default_heartbeat_timeout_ns = 15'000'000'000;
// An operation gives up on a server that does not answer for this long.
inline constexpr std::uint64_t default_server_timeout_ns = 20'000'000'000;
// A client uses a list of servers for this long after it has asked for it (placement/placement.h).
inline constexpr std::uint64_t default_lease_ns = 10'000'000'000;
// A change of the list waits for this long.
inline constexpr std::uint64_t default_settle_ns = 90'000'000'000;

// An operation begins before the lease ends and waits for the server. If its client is stopped,
// the server fences it after up to three heartbeat time-outs (docs/protocol.md, Tags) and the
// detection.
constexpr std::uint64_t least_settle_ns(std::uint64_t lease_ns,
                                        std::uint64_t detection_ns = detection_bound_ns) {
  return lease_ns + default_server_timeout_ns + 3 * default_heartbeat_timeout_ns + detection_ns;
}

static_assert(default_heartbeat_timeout_ns > detection_bound_ns,
              "a client whose packets are still repeated must not count as silent");
static_assert(default_server_timeout_ns > detection_bound_ns,
              "an operation must wait until the network has detected that the server is gone");
static_assert(default_settle_ns >= least_settle_ns(default_lease_ns));

}  // namespace falafel::engine
