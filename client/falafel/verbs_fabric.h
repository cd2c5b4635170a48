// The InfiniBand and RoCE fabric.
#pragma once

#include <memory>

#include "falafel/fabric_choice.h"

namespace falafel {

// Never fails; creating a host reports problems of the device.
fabric::Result<std::unique_ptr<Fabric>> open_verbs_fabric(const FabricOptions& options);

}  // namespace falafel
