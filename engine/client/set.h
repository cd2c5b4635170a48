// SET (Behringer 3.5.2), and the SET that depends on the value that the key has.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "engine/client/condition.h"
#include "engine/client/operation_context.h"
#include "engine/client/results.h"

namespace falafel::engine {

SetResult set(const OperationContext& context, std::span<const std::byte> key,
              std::span<const std::byte> value, std::uint64_t time_to_live_ns);

SetResult compare_and_set(const OperationContext& context, std::span<const std::byte> key,
                          const Condition& condition, std::span<const std::byte> value,
                          const std::optional<std::uint64_t>& time_to_live_ns);

}  // namespace falafel::engine
