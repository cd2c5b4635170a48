// The side of an acceptance run that serves: it owns memory, a store and the server of a
// calibration, and does what the other side asks of it.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <tl/expected.hpp>

#include "fabric/fabric.h"

namespace falafel::acceptance {

// Serves until `is_over` returns true, which it asks every interval. Waits.
tl::expected<void, std::string> serve(fabric::Host& host, const std::function<bool()>& is_over,
                                      std::uint64_t interval_ns);

}  // namespace falafel::acceptance
