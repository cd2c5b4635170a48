#include "stores/option_range.h"

#include <fmt/format.h>

namespace falafel::stores {

std::optional<std::string> find_out_of_range(std::string_view name, std::uint64_t value,
                                             std::uint64_t least, std::uint64_t most) {
  if (value >= least && value <= most) return std::nullopt;
  return fmt::format("{} is {} but must be from {} to {}", name, value, least, most);
}

std::optional<std::string> first_of(std::span<const std::optional<std::string>> problems) {
  for (const auto& problem : problems) {
    if (problem) return problem;
  }
  return std::nullopt;
}

}  // namespace falafel::stores
