// GET (Behringer 3.5.3).
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>

#include "engine/client/operation_context.h"
#include "engine/client/results.h"
#include "engine/client/value_buffer.h"

namespace falafel::engine {

GetResult get(const OperationContext& context, std::span<const std::byte> key);

// The same without a copy: `use` gets the value in the buffer of the operation.
GetResult get(const OperationContext& context, std::span<const std::byte> key,
              const std::function<void(std::span<const std::byte>)>& use);

// The same into the caller's buffer, as Client::get().
GetResult get(const OperationContext& context, std::span<const std::byte> key,
              const ValueBuffer& buffer);

}  // namespace falafel::engine
