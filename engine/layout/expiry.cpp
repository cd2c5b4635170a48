#include "engine/layout/expiry.h"

#include <cstring>

namespace falafel::engine {

std::span<const std::byte> expiry_prefix(const Geometry& geometry, const std::uint64_t& expiry_ns) {
  if (!geometry.values_expire) return {};
  return std::as_bytes(std::span(&expiry_ns, 1));
}

std::uint64_t expiry_of(std::uint64_t wall_clock_ns, std::uint64_t time_to_live_ns) {
  if (time_to_live_ns == 0) return never_expires;
  if (time_to_live_ns >= pinned_time_to_live_ns) return pinned_expiry_ns;
  constexpr std::uint64_t latest_ns = pinned_expiry_ns - 1;
  if (wall_clock_ns >= latest_ns - time_to_live_ns) return latest_ns;
  return wall_clock_ns + time_to_live_ns;
}

std::uint64_t expiry_in(std::span<const std::byte> value) {
  std::uint64_t expiry_ns = 0;
  std::memcpy(&expiry_ns, value.data(), sizeof expiry_ns);
  return expiry_ns;
}

bool is_expired(std::span<const std::byte> value, std::uint64_t wall_clock_ns) {
  if (value.size() < expiry_bytes) return true;
  const std::uint64_t expiry_ns = expiry_in(value);
  const bool expires = expiry_ns != never_expires && expiry_ns != pinned_expiry_ns;
  return expires && wall_clock_ns >= expiry_ns;
}

bool is_pinned(std::span<const std::byte> value) {
  return value.size() >= expiry_bytes && expiry_in(value) == pinned_expiry_ns;
}

std::uint64_t time_to_live_left(std::span<const std::byte> value, std::uint64_t wall_clock_ns) {
  const std::uint64_t expiry_ns = expiry_in(value);
  if (expiry_ns == never_expires) return 0;
  return expiry_ns == pinned_expiry_ns ? pinned_time_to_live_ns : expiry_ns - wall_clock_ns;
}

std::span<const std::byte> without_expiry(const Geometry& geometry,
                                          std::span<const std::byte> value) {
  return value.subspan(geometry.value_prefix_bytes());
}

}  // namespace falafel::engine
