// Runs a function in a child process and returns the text that it wrote, also if it crashed or was
// killed.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace falafel::explorer {

using WriteText = std::function<void(std::string_view)>;

enum class StandardError : std::uint8_t { shown, discarded };

// Kills the child after `seconds`.
std::string text_of_child(double seconds, StandardError standard_error,
                          const std::function<void(const WriteText&)>& body);

}  // namespace falafel::explorer
