// Runs a function in a child process and returns the text that it wrote, also if it crashed or was
// killed. What the child prints on standard error is discarded.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace falafel::check {

using WriteText = std::function<void(std::string_view)>;

// Kills the child after `seconds`.
std::string text_of_child(double seconds, const std::function<void(const WriteText&)>& body);

}  // namespace falafel::check
