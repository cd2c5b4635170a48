#include "engine/layout/expiry.h"

#include <algorithm>
#include <cstring>
#include <limits>

namespace falafel::engine {

std::span<const std::byte> expiry_prefix(const Geometry& geometry, const std::uint64_t& expiry_ns) {
  if (!geometry.values_expire) return {};
  return std::as_bytes(std::span(&expiry_ns, 1));
}

std::uint64_t expiry_of(std::uint64_t wall_clock_ns, std::uint64_t time_to_live_ns) {
  if (time_to_live_ns == 0) return never_expires;
  const std::uint64_t left_ns = std::numeric_limits<std::uint64_t>::max() - wall_clock_ns;
  return wall_clock_ns + std::min(time_to_live_ns, left_ns);
}

std::uint64_t expiry_in(std::span<const std::byte> value) {
  std::uint64_t expiry_ns = 0;
  std::memcpy(&expiry_ns, value.data(), sizeof expiry_ns);
  return expiry_ns;
}

bool is_expired(std::span<const std::byte> value, std::uint64_t wall_clock_ns) {
  if (value.size() < expiry_bytes) return true;
  const std::uint64_t expiry_ns = expiry_in(value);
  return expiry_ns != never_expires && wall_clock_ns >= expiry_ns;
}

std::uint64_t time_to_live_left(std::span<const std::byte> value, std::uint64_t wall_clock_ns) {
  const std::uint64_t expiry_ns = expiry_in(value);
  return expiry_ns == never_expires ? 0 : expiry_ns - wall_clock_ns;
}

std::span<const std::byte> without_expiry(const Geometry& geometry,
                                          std::span<const std::byte> value) {
  return value.subspan(geometry.value_prefix_bytes());
}

}  // namespace falafel::engine
