// SET (Behringer 3.5.2).
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "engine/client/results.h"
#include "engine/client/session.h"

namespace falafel::engine {

SetResult set(const std::shared_ptr<Session>& session, std::span<const std::byte> key,
              std::span<const std::byte> value);

}  // namespace falafel::engine
