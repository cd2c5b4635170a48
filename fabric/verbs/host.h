// A host of the fabric over libibverbs. It is part of the process that creates it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "fabric/realtime/host.h"
#include "fabric/verbs/device.h"
#include "fabric/verbs/memory.h"
#include "fabric/verbs/network.h"
#include "fabric/verbs/options.h"

namespace falafel::verbs {

class Host final : public fabric::RealTimeHost {
 public:
  // Errors: invalid_argument (no such device, port or GID; a name that cannot be resolved). Each
  // says what to do.
  static fabric::Result<std::unique_ptr<Host>> create(const HostOptions& options);
  ~Host() override;
  Host(const Host&) = delete;
  Host& operator=(const Host&) = delete;

  std::size_t device_count() const override { return devices_.size(); }
  fabric::Device& device(std::size_t index) override { return *devices_.at(index); }
  fabric::Result<std::shared_ptr<fabric::MemoryBlock>> allocate_memory(
      std::uint64_t size_bytes) override {
    return allocate_block(scheduler(), size_bytes, memory_options_);
  }
  // With an obstacle to paging, all memory is there from the start.
  fabric::Result<std::shared_ptr<fabric::MemoryBlock>> reserve_memory(
      std::uint64_t size_bytes) override;
  fabric::Result<fabric::KeptMemory> keep_reserved_memory(const std::string& name,
                                                          std::uint64_t size_bytes) override;
  // The reason why reserved memory saves none: a device that does not page it, or huge pages.
  // Empty: it does save memory.
  std::string obstacle_to_paging() const;

 private:
  Host(const HostOptions& options, std::unique_ptr<Network> network);
  fabric::Result<std::unique_ptr<Device>> open_device(const DeviceOptions& options);
  fabric::Result<std::shared_ptr<fabric::MemoryBlock>> map_kept(
      const std::shared_ptr<fabric::KeptFile>& file) override {
    return map_kept_block(scheduler(), file);
  }

  std::unique_ptr<Network> network_;
  MemoryOptions memory_options_;
  std::vector<std::unique_ptr<Device>> devices_;
};

}  // namespace falafel::verbs
