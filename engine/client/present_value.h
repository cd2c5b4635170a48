// Reads the value of a key that FIND has found, unless it came with the start of the container.
//
// In a cache, an operation that finds an expired value deletes it like a DELETE. The value is then
// absent for everybody, whatever their clocks say.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>

#include "engine/client/find.h"
#include "engine/client/pending_operation.h"
#include "engine/client/results.h"

namespace falafel::engine {

struct TimedValue {
  std::span<const std::byte> value{};
  // In a cache: nanoseconds since 1970; 0: never; pinned_expiry_ns: never, and it is pinned.
  std::uint64_t expires_ns = 0;
  std::optional<PlaceInBuffer> place{};  // if it is in the destination of the operation
};

// Takes the value, whose bytes are valid only during the call.
using Receive = std::function<Answer(PendingOperation& operation, const TimedValue& present)>;

// `position`: occupied by an entry that is not deleted; FIND was the operation's last request.
// Returns the answer of `receive`; `not_found` if the value has expired and is deleted now; or
// nullopt if the operation has to restart. Waits.
std::optional<Answer> read_value(PendingOperation& operation, FindResult& position,
                                 const Receive& receive);

}  // namespace falafel::engine
