// A host with its devices. Devices, and all that they make, know only the host.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "fabric/shm/device.h"
#include "fabric/shm/host.h"

namespace falafel::shm {

class HostWithDevices final : public Host {
 public:
  HostWithDevices(std::shared_ptr<ProcessState> process, std::string name,
                  std::size_t device_count);
  ~HostWithDevices() override;
  HostWithDevices(const HostWithDevices&) = delete;
  HostWithDevices& operator=(const HostWithDevices&) = delete;

  std::size_t device_count() const override { return devices_.size(); }
  fabric::Device& device(std::size_t index) override;

 private:
  std::vector<std::unique_ptr<Device>> devices_;
};

}  // namespace falafel::shm
