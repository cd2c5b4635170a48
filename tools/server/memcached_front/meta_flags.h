// The flags of a meta command: words that begin with the letter of the flag, followed by its
// argument, if any.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "tools/server/memcached_front/command_line.h"

namespace falafel::memcached_front {

// Applies the flags of `request.meta_flags` to the request, whose kind is that of a meta command.
// Returns the answer if it has to be refused.
std::optional<std::string> apply_meta_flags(Request& request, const ParserOptions& options);

}  // namespace falafel::memcached_front
