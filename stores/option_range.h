// Checks of the options of a store. Each check returns a message about what is wrong, if anything.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace falafel::stores {

std::optional<std::string> find_out_of_range(std::string_view name, std::uint64_t value,
                                             std::uint64_t least, std::uint64_t most);

// The first message.
std::optional<std::string> first_of(std::span<const std::optional<std::string>> problems);

}  // namespace falafel::stores
