// Facts about a machine, for the report of an acceptance run.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "fabric/fabric.h"

namespace falafel::acceptance {

using Facts = std::vector<std::pair<std::string, std::string>>;  // name and value

// The system, the processor, and each RDMA device as the kernel describes it.
Facts facts_of_machine();
Facts facts_of_device(const fabric::DeviceAttributes& attributes);

// Tells if this machine has RDMA devices, and all of them are software (Soft-RoCE, Soft-iWARP).
bool has_only_software_devices();

}  // namespace falafel::acceptance
