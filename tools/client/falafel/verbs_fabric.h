// The store over InfiniBand or RoCE.
#pragma once

#include <memory>

#include "falafel/fabric_choice.h"

namespace falafel {

// Errors: none; what is wrong with the device is told when a host is made.
fabric::Result<std::unique_ptr<Fabric>> open_verbs_fabric(const FabricOptions& options);

}  // namespace falafel
