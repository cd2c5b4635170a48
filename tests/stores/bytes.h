// Texts as keys and values.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "fabric/text.h"

namespace falafel::stores_test {

using fabric::text_of;

using Bytes = std::vector<std::byte>;

inline Bytes bytes_of(std::string_view text) { return fabric::copied_bytes_of(text); }

}  // namespace falafel::stores_test
