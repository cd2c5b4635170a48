// The requester's side of the data: the local buffer of a request, which is registered memory, and
// the copy that replaces it once the program may use the buffer again.
#pragma once

#include <cstddef>

#include "fabric/sim/request.h"

namespace falafel::sim {

struct World;

std::byte* local_buffer(World& world, const Request& request);

// The data of a WRITE or SEND: the local buffer, or the copy of it.
const std::byte* source_of(World& world, const Request& request);

// Copies the data, because the program may reuse the local buffer from now on.
void take_payload(World& world, Request& request);

}  // namespace falafel::sim
