// Creating a queue pair: its options are checked against its device and the room in its queues.
#pragma once

#include "fabric/fabric.h"

namespace falafel::sim {

class DeviceState;
class QueuePairActor;
struct World;

// It has no peer yet. Errors: see fabric::Device::connect.
fabric::Result<QueuePairActor*> create_queue_pair(World& world, DeviceState& device,
                                                  const fabric::QueuePairOptions& options);

}  // namespace falafel::sim
