// Range checks for options. The messages name the option and its range.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace falafel::engine {

// The sum of a few such durations and a point in time does not overflow.
inline constexpr std::uint64_t longest_duration_ns = std::uint64_t{1} << 62;

inline std::optional<std::string> find_out_of_range(std::string_view name, std::uint64_t value,
                                                    std::uint64_t least, std::uint64_t most) {
  if (value >= least && value <= most) return std::nullopt;
  return fmt::format("{} is {} but must be from {} to {}", name, value, least, most);
}

}  // namespace falafel::engine
