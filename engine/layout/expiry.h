// In a cache (Geometry::values_expire), the value of a container begins with the time at which it
// expires, before the caller's bytes:
//
//   byte  0  u64  nanoseconds since 1970; 0: never; all ones: never, and the value is pinned
//         8       the caller's bytes
//
// A pinned value stays until somebody overwrites or deletes it: the server does not evict it.
//
// The time is that of wall clocks (fabric::Host::wall_clock_ns), which differ between hosts. They
// decide how long a value stays, and nothing else: whoever finds a value expired deletes it before
// it acts on that (docs/cache.md).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "engine/layout/geometry.h"
#include "engine/layout/pinned.h"

namespace falafel::engine {

inline constexpr std::uint64_t never_expires = 0;

// The bytes of that time; none if the store is not a cache.
std::span<const std::byte> expiry_prefix(const Geometry& geometry, const std::uint64_t& expiry_ns);

// When a value that is stored at this time expires, if it has this time to live; 0: never. Pinned
// only if the time to live is at least `pinned_time_to_live_ns`.
std::uint64_t expiry_of(std::uint64_t wall_clock_ns, std::uint64_t time_to_live_ns);

// `value` has at least the first `expiry_bytes` of a value in a cache. A shorter value, which no
// correct client writes, counts as expired.
bool is_expired(std::span<const std::byte> value, std::uint64_t wall_clock_ns);

// When such a value expires if it is not too short; never_expires: never; pinned_expiry_ns: it is
// pinned.
std::uint64_t expiry_in(std::span<const std::byte> value);

// Returns whether the value begins with the word of pinned values.
bool is_pinned(std::span<const std::byte> value);

// How much longer such a value stays if it has not expired; 0: forever, unless it is evicted;
// pinned_time_to_live_ns: it is pinned.
std::uint64_t time_to_live_left(std::span<const std::byte> value, std::uint64_t wall_clock_ns);

// The caller's part of a value that is not too short.
std::span<const std::byte> without_expiry(const Geometry& geometry,
                                          std::span<const std::byte> value);

}  // namespace falafel::engine
