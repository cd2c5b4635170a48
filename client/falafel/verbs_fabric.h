// The InfiniBand and RoCE fabric.
#pragma once

#include <memory>
#include <string>

#include "falafel/fabric_choice.h"

namespace falafel {

// Never fails; creating a host reports problems of the device.
fabric::Result<std::unique_ptr<Fabric>> open_verbs_fabric(const FabricOptions& options);

// The reason why the device of the server with this name does not page memory. Empty: it does, or
// the server's host cannot be created.
std::string obstacle_to_paging(const FabricOptions& options, const std::string& server);

}  // namespace falafel
