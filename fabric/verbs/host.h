// A host in a network of RDMA devices: the process that makes it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "fabric/realtime/host.h"
#include "fabric/verbs/device.h"
#include "fabric/verbs/memory.h"
#include "fabric/verbs/network.h"
#include "fabric/verbs/options.h"

namespace falafel::fabric {

class VerbsHost final : public RealTimeHost {
 public:
  // Errors: invalid_argument (no such device, port or GID, a name that cannot be resolved), each with what
  // to do about it.
  static Result<std::unique_ptr<VerbsHost>> create(const VerbsHostOptions& options);
  ~VerbsHost() override;
  VerbsHost(const VerbsHost&) = delete;
  VerbsHost& operator=(const VerbsHost&) = delete;

  std::size_t device_count() const override { return devices_.size(); }
  Device& device(std::size_t index) override { return *devices_.at(index); }
  Result<std::shared_ptr<MemoryBlock>> allocate_memory(std::uint64_t size_bytes) override {
    return allocate_block(size_bytes, memory_options_);
  }

 private:
  VerbsHost(const VerbsHostOptions& options, std::unique_ptr<VerbsNetwork> network);

  std::unique_ptr<VerbsNetwork> network_;
  MemoryOptions memory_options_;
  std::vector<std::unique_ptr<VerbsDevice>> devices_;
};

}  // namespace falafel::fabric
