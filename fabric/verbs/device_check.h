// Judges from the attributes of a device whether the store can run on it.
#pragma once

#include <infiniband/verbs.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "fabric/verbs/finding.h"

namespace falafel::verbs {

// The needs of a planned server.
struct Demands {
  std::uint64_t memory_bytes = 0;  // that it registers; 0: unknown
  std::uint32_t clients = 0;       // that are connected at a time; 0: unknown
};

struct DeviceFacts {
  std::string name;
  ibv_transport_type transport = IBV_TRANSPORT_IB;
  ibv_device_attr attributes{};
  ibv_odp_caps paging{};
  // The error number of creating an RC queue pair; nullopt if one could be created.
  std::optional<int> queue_pair_error{};
};

std::vector<Finding> check_device(const DeviceFacts& device, const Demands& demands);

}  // namespace falafel::verbs
