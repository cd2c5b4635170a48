// SET (Behringer 3.5.2).
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "engine/client/operation_context.h"
#include "engine/client/results.h"

namespace falafel::engine {

SetResult set(const OperationContext& context, std::span<const std::byte> key,
              std::span<const std::byte> value, std::uint64_t time_to_live_ns);

}  // namespace falafel::engine
