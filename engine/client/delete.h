// DELETE (Behringer 3.5.4).
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "engine/client/operation_context.h"
#include "engine/client/results.h"

namespace falafel::engine {

DeleteResult remove(const OperationContext& context, std::span<const std::byte> key);

}  // namespace falafel::engine
