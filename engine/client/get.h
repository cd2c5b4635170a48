// GET (Behringer 3.5.3).
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>

#include "engine/client/results.h"
#include "engine/client/session.h"

namespace falafel::engine {

GetResult get(const std::shared_ptr<Session>& session, std::span<const std::byte> key);

// The same without a copy: `use` gets the value in the buffer of the operation.
GetResult get(const std::shared_ptr<Session>& session, std::span<const std::byte> key,
              const std::function<void(std::span<const std::byte>)>& use);

}  // namespace falafel::engine
