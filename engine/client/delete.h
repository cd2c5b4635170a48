// DELETE (Behringer 3.5.4).
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "engine/client/results.h"
#include "engine/client/session.h"

namespace falafel::engine {

DeleteResult remove(const std::shared_ptr<Session>& session, std::span<const std::byte> key);

}  // namespace falafel::engine
