#include "fabric/stream/host.h"

#include <vector>

#include "fabric/stream/device.h"
#include "fabric/stream/memory.h"
#include "fabric/stream/network.h"

namespace falafel::stream {
namespace {

class Host final : public fabric::RealTimeHost {
 public:
  Host(const HostOptions& options, std::unique_ptr<Network> network)
      : fabric::RealTimeHost(options.name, *network, options.spin_ns,
                             network->descriptor_shortage()),
        network_(std::move(network)),
        site_{.options = options, .scheduler = scheduler(), .network = *network_} {
    if (options.services != nullptr) options.services->add_host(options.name, options.address());
    for (std::size_t index = 0; index < options.device_count; ++index) {
      devices_.push_back(std::make_unique<Device>(site_));
    }
  }
  ~Host() override { scheduler().unwind_all(); }
  Host(const Host&) = delete;
  Host& operator=(const Host&) = delete;

  std::size_t device_count() const override { return devices_.size(); }
  fabric::Device& device(std::size_t index) override { return *devices_.at(index); }
  fabric::Result<std::shared_ptr<fabric::MemoryBlock>> allocate_memory(
      std::uint64_t size_bytes) override {
    return allocate_block(scheduler(), size_bytes);
  }
  fabric::Result<std::shared_ptr<fabric::MemoryBlock>> reserve_memory(
      std::uint64_t size_bytes) override {
    return allocate_block(scheduler(), size_bytes);
  }

 private:
  fabric::Result<std::shared_ptr<fabric::MemoryBlock>> map_kept(
      const std::shared_ptr<fabric::KeptFile>& file) override {
    return map_kept_block(scheduler(), file);
  }

  std::unique_ptr<Network> network_;
  Site site_;
  std::vector<std::unique_ptr<Device>> devices_;
};

}  // namespace

std::unique_ptr<fabric::RealTimeHost> create_host(const HostOptions& options) {
  return std::make_unique<Host>(options, std::make_unique<Network>());
}

}  // namespace falafel::stream
