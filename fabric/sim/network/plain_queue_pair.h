// Most queue pairs: RC, in a run that is not timed.
#pragma once

#include <cstdint>

#include "fabric/sim/network/queue_pair.h"

namespace falafel::sim {

Owned<QueuePairActor> make_plain_queue_pair(World& world, DeviceState& device, std::uint32_t number,
                                            const fabric::QueuePairOptions& options);

}  // namespace falafel::sim
