// GET (Behringer 3.5.3).
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "engine/client/results.h"
#include "engine/client/session.h"

namespace falafel::engine {

GetResult get(const std::shared_ptr<Session>& session, std::span<const std::byte> key);

}  // namespace falafel::engine
