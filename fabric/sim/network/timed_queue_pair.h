// Queue pairs of timed runs: what they can do has a time (request_times.h).
#pragma once

#include <cstdint>

#include "fabric/sim/network/queue_pair.h"

namespace falafel::sim {

Owned<QueuePairActor> make_timed_queue_pair(World& world, DeviceState& device, std::uint32_t number,
                                            const fabric::QueuePairOptions& options);

}  // namespace falafel::sim
