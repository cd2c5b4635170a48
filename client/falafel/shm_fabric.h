// The shared-memory fabric.
#pragma once

#include <memory>

#include "falafel/fabric_choice.h"

namespace falafel {

fabric::Result<std::unique_ptr<Fabric>> open_shm_fabric(const FabricOptions& options);

}  // namespace falafel
