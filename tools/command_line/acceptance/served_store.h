// The store of the side that serves. It is small, so collections and cleanups are frequent.
#pragma once

#include <memory>
#include <string>

#include "engine/server/server.h"
#include "fabric/fabric.h"

namespace falafel::acceptance {

engine::Geometry store_geometry();
fabric::Result<std::unique_ptr<engine::Server>> start_small_store(fabric::Host& host);

// Waits until the server has nothing to do and no client, and judges its memory. Returns what is
// wrong with it; empty: nothing. Then `summary` says what the server did.
std::string judge_store(fabric::Host& host, engine::Server& server, std::string& summary);

}  // namespace falafel::acceptance
