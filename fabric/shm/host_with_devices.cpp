#include "fabric/shm/host_with_devices.h"

#include <utility>

namespace falafel::shm {

HostWithDevices::HostWithDevices(std::shared_ptr<ProcessState> process, std::string name,
                                 std::size_t device_count)
    : Host(std::move(process), std::move(name)) {
  for (std::size_t count = 0; count < device_count; ++count) {
    devices_.push_back(std::make_unique<Device>(*this));
  }
}

// Fibers use the devices until they are unwound.
HostWithDevices::~HostWithDevices() { scheduler().unwind_all(); }

fabric::Device& HostWithDevices::device(std::size_t index) {
  FALAFEL_ASSERT(index < devices_.size(), "host {} has {} devices, not one of index {}", name(),
                 devices_.size(), index);
  return *devices_[index];
}

}  // namespace falafel::shm
